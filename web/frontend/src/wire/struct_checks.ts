/** The rules of wire types that no single field says; Python has them in `__post_init__`. */

import { Invalid } from "./invalid.ts";

type Members = Record<string, unknown>;

function exactlyOneScope(value: Members, path: string): void {
  if ((value["sessionId"] === undefined) === (value["requestId"] === undefined)) {
    throw new Invalid(path, "Expected exactly one of `sessionId` and `requestId`");
  }
}

export const CHECKS: Record<string, (value: Members, path: string) => void> = {
  ElicitationFormMode: exactlyOneScope,
  ElicitationUrlMode: exactlyOneScope,
  EmbeddedResourceResource: (value, path) => {
    if (value["text"] === undefined && value["blob"] === undefined) {
      throw new Invalid(path, "Expected `text` or `blob`");
    }
  },
  KnownMultiSelectItems: (value, path) => {
    if (value["type"] === undefined) {
      if (value["anyOf"] === undefined) throw new Invalid(path, "Expected `type` or `anyOf`");
    } else if (value["enum"] === undefined) {
      throw new Invalid(path, "Items of type 'string' need `enum`");
    }
  },
  SessionConfigSelect: (value, path) => {
    const entries = value["options"] as Members[];
    const groups = entries.filter((entry) => entry["groupId"] !== undefined).length;
    if (groups !== 0 && groups !== entries.length) {
      throw new Invalid(path, "Expected values or groups in `options`, not both");
    }
  },
  SessionConfigSelectEntry: (value, path) => {
    if (value["groupId"] === undefined) {
      if (value["value"] === undefined) throw new Invalid(path, "Expected `value` or `groupId`");
    } else if (value["options"] === undefined) {
      throw new Invalid(path, "A group needs `options`");
    }
  },
};

/** The page: a placeholder until the shell is there. */

import type { AccordClient } from "../client/types.ts";

export function App({ client }: { client: AccordClient }) {
  return <main>{client.connection.value.state}</main>;
}

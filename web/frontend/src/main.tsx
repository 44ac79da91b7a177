/** Mounts the page: on a gateway, or with `?demo` on scripted sessions without any server. */

import { render } from "preact";
import { App } from "./shell/App.tsx";
import { FakeClient } from "./testing/fake_client.ts";

const root = document.getElementById("app");
if (root !== null) render(<App client={new FakeClient()} />, root);

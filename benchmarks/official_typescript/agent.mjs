// The benchmark's agent on the official TypeScript SDK, over stdio.
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";
import { benchAgent } from "./workload.mjs";

benchAgent().connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));

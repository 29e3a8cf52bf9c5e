/** Kubeconfigs in a temporary folder, and servers on loopback that they name, for tests. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { JsonObject } from "@flotilla/base";

/** The address of a server that answers every request until the test ends. */
export async function serveAnswers(answer: (request: IncomingMessage) => string | Promise<string>): Promise<string> {
  const server = http.createServer((request, response) => {
    request.resume();
    void Promise.resolve(answer(request)).then((text) => response.end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

export const kubeconfigOf = (server: string, user: JsonObject = {}): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "hook", cluster: { server } }],
    users: [{ name: "caller", user }],
    contexts: [{ name: "hook", context: { cluster: "hook", user: "caller" } }],
    "current-context": "hook",
  });

export interface TestFolder {
  path(name: string): string;
  write(name: string, text: string): Promise<void>;
}

/** Removed when the test ends. */
export async function createTestFolder(): Promise<TestFolder> {
  const folder = await mkdtemp(join(tmpdir(), "flotilla-kubeconfig-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = (name: string): string => join(folder, name);
  return { path, write: (name, text) => writeFile(path(name), text) };
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import { postTo } from "./kubeconfig-post.ts";

async function serve(answer: string): Promise<string> {
  const server = http.createServer((request, response) => request.resume().on("end", () => response.end(answer)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

const kubeconfig = (server: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "hook", cluster: { server } }],
    contexts: [{ name: "hook", context: { cluster: "hook", user: "" } }],
    "current-context": "hook",
  });

test("calls the server of a changed kubeconfig, and keeps the one before while the file is wrong", async () => {
  const directory = await mkdtemp(join(tmpdir(), "flotilla-kubeconfig-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "hook.kubeconfig");
  await writeFile(file, kubeconfig(await serve("first")));
  const clock = createFakeClock();
  const reloads: string[] = [];
  const { post } = await postTo(file, {
    flag: "--hook",
    clock,
    log: silentLog,
    onReload: (status) => reloads.push(status),
  });
  const call = (): Promise<string> => {
    clock.advance(10_000);
    return post(Buffer.from("{}"), AbortSignal.timeout(10_000));
  };
  const answers = [await call()];

  await writeFile(file, kubeconfig(await serve("second")));
  answers.push(await call());
  await writeFile(file, "no: kubeconfig");
  answers.push(await call(), await call());

  expect(answers).toEqual(["first", "second", "second", "second"]);
  expect(reloads).toEqual(["success", "failure"]);
});

import { expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { postTo } from "./kubeconfig-post.ts";
import { createTestFolder, kubeconfigOf, serveAnswers } from "./test-kubeconfig.ts";

/** A followed kubeconfig; every call comes when it is due to be read again. */
async function follow(kubeconfig: string) {
  const folder = await createTestFolder();
  const write = (text: string): Promise<void> => folder.write("hook.kubeconfig", text);
  await write(kubeconfig);
  const clock = createFakeClock();
  const reloads: string[] = [];
  const server = await postTo(folder.path("hook.kubeconfig"), {
    flag: "--hook",
    clock,
    log: silentLog,
    onReload: (status) => reloads.push(status),
  });
  const call = (): Promise<string> => {
    clock.advance(10_000);
    return server.post(Buffer.from("{}"), AbortSignal.timeout(10_000));
  };
  return { folder, write, call, reloads, server };
}

test("calls the server of a changed kubeconfig, and keeps the one before while the file is wrong", async () => {
  const { write, call, reloads } = await follow(kubeconfigOf(await serveAnswers(() => "first")));
  const answers = [await call()];

  await write(kubeconfigOf(await serveAnswers(() => "second")));
  answers.push(await call());
  await write("no: kubeconfig");
  answers.push(await call(), await call());

  expect(answers).toEqual(["first", "second", "second", "second"]);
  expect(reloads).toEqual(["success", "failure"]);
});

test("sends the token of another token file, and of a plugin that replaces it, once they are in the kubeconfig", async () => {
  const url = await serveAnswers(({ headers }) => headers.authorization ?? "none");
  const { folder, write, call, reloads } = await follow(kubeconfigOf(url));
  await folder.write("first", "one");
  await folder.write("second", "two");
  const printing = (token: string) => ({
    apiVersion: "client.authentication.k8s.io/v1",
    command: process.execPath,
    args: [
      "-p",
      `JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token: "${token}" } })`,
    ],
    interactiveMode: "Never",
  });

  const users: JsonObject[] = [
    { tokenFile: folder.path("first") },
    { tokenFile: folder.path("second") },
    { exec: printing("three") },
    { exec: printing("four") },
  ];

  const tokens = [await call()];
  for (const user of users) {
    await write(kubeconfigOf(url, user));
    tokens.push(await call());
  }
  tokens.push(await call());

  expect(tokens).toEqual(["none", "Bearer one", "Bearer two", "Bearer three", "Bearer four", "Bearer four"]);
  expect(reloads).toEqual(Array(4).fill("success"));
});

test("a retired server answers late calls, with the kubeconfig that it has", async () => {
  const { write, call, reloads, server } = await follow(kubeconfigOf(await serveAnswers(() => "first")));
  const answers = [await call()];
  await write(kubeconfigOf(await serveAnswers(() => "second")));

  server.retire();
  answers.push(...(await Promise.all([call(), call()])), await call());

  expect(answers).toEqual(Array(4).fill("first"));
  expect(reloads).toEqual([]);
});

test("a retired server keeps no connection after a late call", async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serveAnswers(({ socket }) => {
    socket.once("close", () => closed.resolve());
    return "answered";
  });
  const { call, server } = await follow(kubeconfigOf(url));

  server.retire();
  await call();

  await expect(closed.promise).resolves.toBeUndefined();
});

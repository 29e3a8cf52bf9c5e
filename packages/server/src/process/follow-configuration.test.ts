import { expect, test } from "vitest";
import { createFakeClock, silentLog } from "@flotilla/base";
import { followConfiguration } from "./follow-configuration.ts";

function start() {
  const clock = createFakeClock();
  const used: string[] = [];
  const reloads: string[] = [];
  const missing = new Set(["kubeconfig"]);
  let next: string | Error = "a";
  const following = followConfiguration(
    {
      flag: "--config",
      content: "a",
      read: async () => {
        if (next instanceof Error) throw next;
        return next;
      },
      use(content) {
        if (content.startsWith("wrong")) throw new Error("wrong");
        if (missing.has(content)) throw new Error(`no ${content}`);
        used.push(content);
      },
      onReload: (status) => reloads.push(status),
    },
    { clock, log: silentLog },
  );
  const change = async (content: string | Error): Promise<void> => {
    next = content;
    clock.advance(10_000);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { used, reloads, change, following, missing };
}

test("uses a changed file once", async () => {
  const { used, reloads, change } = start();

  for (const content of ["a", "b", "b", "a"]) await change(content);

  expect([used, reloads]).toEqual([
    ["b", "a"],
    ["success", "success"],
  ]);
});

test("keeps what it has while the file is wrong or missing, and reports each problem once", async () => {
  const { used, reloads, change } = start();

  for (const content of ["wrong", "wrong", new Error("ENOENT"), new Error("ENOENT"), "wrong 2", "a", "wrong 2", "b"])
    await change(content);

  expect(used).toEqual(["b"]);
  expect(reloads).toEqual(["failure", "failure", "failure", "failure", "success"]);
});

test("uses a configuration that failed when what it names has arrived", async () => {
  const { used, reloads, change, missing } = start();

  await change("kubeconfig");
  await change("kubeconfig");
  missing.delete("kubeconfig");
  await change("kubeconfig");

  expect([used, reloads]).toEqual([["kubeconfig"], ["failure", "success"]]);
});

test("stops", async () => {
  const { used, change, following } = start();

  following.cancel();
  await change("b");

  expect(used).toEqual([]);
});

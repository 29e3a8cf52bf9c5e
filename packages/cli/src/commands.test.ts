import { expect, test } from "vitest";
import { commands } from "./commands.ts";

test("the command list repeats each command's own summary", async () => {
  for (const { name, summary, load } of commands) expect(await load()).toMatchObject({ name, summary });
});

test("every command with a namespace of hub objects has the same fallback", async () => {
  // Of the agent's credentials and of the installed programs, and a filter of all namespaces.
  const others = new Set(["agent", "register", "install", "uninstall", "webhooks", "status"]);
  const loaded = await Promise.all(commands.filter(({ name }) => !others.has(name)).map(({ load }) => load()));
  const flags = loaded.flatMap(({ flags: { namespace } }) => (namespace === undefined ? [] : [namespace]));

  expect(flags.length).toBeGreaterThan(10);
  for (const flag of flags) {
    expect(flag.default).toBeUndefined();
    expect(flag.description).toContain("that of the kubeconfig, else default)");
  }
});

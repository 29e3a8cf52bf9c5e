import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hubDataDirectory, hubKubeconfig } from "./hub-kubeconfig.ts";

const cases: Record<
  string,
  { flags: { kubeconfig?: string; data?: string }; environment: Record<string, string>; want: string[] }
> = {
  "--kubeconfig wins": {
    flags: { kubeconfig: "a", data: "b" },
    environment: { KUBECONFIG: "c" },
    want: ["a"],
  },
  "--data wins over the environment": {
    flags: { data: "b" },
    environment: { KUBECONFIG: "c" },
    want: ["b/hub.kubeconfig"],
  },
  "the environment wins over the default directory": { flags: {}, environment: { KUBECONFIG: "c" }, want: ["c"] },
  "several files of the environment are read as one": {
    flags: {},
    environment: { KUBECONFIG: "a:b:" },
    want: ["a", "b"],
  },
  "the default is the data directory's kubeconfig": {
    flags: {},
    environment: { FLOTILLA_HOME: "home" },
    want: ["home/hub.kubeconfig"],
  },
};
for (const [behaviour, { flags, environment, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    const { kubeconfigs } = hubKubeconfig({ kubeconfig: flags.kubeconfig, data: flags.data }, environment);

    expect(kubeconfigs).toEqual(want);
  });
}

const flags = { kubeconfig: "a", data: undefined };

test("--as and --as-group impersonate", () => {
  const { impersonate } = hubKubeconfig({ ...flags, as: "jane", "as-group": ["dev", "ops"] }, {});

  expect(impersonate).toEqual({ user: "jane", groups: ["dev", "ops"] });
});

test("--as-group without a user is rejected", () => {
  expect(() => hubKubeconfig({ ...flags, "as-group": ["dev"] }, {})).toThrow("--as-group needs a user");
});

describe("the data directory", () => {
  let folder: string;
  const fileOf = (fleet: string): string => join(folder, fleet, "hub.kubeconfig");
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "flotilla-data-"));
    for (const fleet of ["a", "b"]) {
      mkdirSync(join(folder, fleet));
      writeFileSync(
        fileOf(fleet),
        JSON.stringify({
          kind: "Config",
          "current-context": fleet,
          contexts: [{ name: fleet, context: { cluster: fleet, user: fleet } }],
        }),
      );
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const find = (given: { kubeconfig?: string; data?: string; context?: string }, kubeconfig?: string) =>
    hubDataDirectory(
      { kubeconfig: given.kubeconfig, data: given.data, context: given.context },
      { KUBECONFIG: kubeconfig, FLOTILLA_HOME: join(folder, "home") },
    );

  test("is the one that --data names", async () => {
    expect(await find({ data: "c" }, fileOf("a"))).toBe("c");
  });

  test("is that of the kubeconfig of --kubeconfig or $KUBECONFIG", async () => {
    expect(await find({ kubeconfig: fileOf("b") }, fileOf("a"))).toBe(join(folder, "b"));
    expect(await find({}, fileOf("a"))).toBe(join(folder, "a"));
    expect(await find({})).toBe(join(folder, "home"));
  });

  test("is that of the file with the context, of several files", async () => {
    const both = `${fileOf("a")}:${fileOf("b")}`;

    expect(await find({}, both)).toBe(join(folder, "a"));
    expect(await find({ context: "b" }, both)).toBe(join(folder, "b"));
    await expect(find({ context: "c" }, both)).rejects.toThrow("no context is named 'c'");
  });
});

import { expect, test } from "vitest";
import { hubKubeconfig } from "./hub-kubeconfig.ts";

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

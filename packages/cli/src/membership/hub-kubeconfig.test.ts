import { expect, test } from "vitest";
import { hubKubeconfig } from "./hub-kubeconfig.ts";

const cases: Record<
  string,
  { flags: { kubeconfig?: string; data?: string }; environment: Record<string, string>; want: string }
> = {
  "--kubeconfig wins": {
    flags: { kubeconfig: "a", data: "b" },
    environment: { KUBECONFIG: "c" },
    want: "a",
  },
  "--data wins over the environment": {
    flags: { data: "b" },
    environment: { KUBECONFIG: "c" },
    want: "b/hub.kubeconfig",
  },
  "the environment wins over the default directory": { flags: {}, environment: { KUBECONFIG: "c" }, want: "c" },
  "the default is the data directory's kubeconfig": {
    flags: {},
    environment: { FLOTILLA_HOME: "home" },
    want: "home/hub.kubeconfig",
  },
};
for (const [behaviour, { flags, environment, want }] of Object.entries(cases)) {
  test(behaviour, () => {
    expect(hubKubeconfig({ kubeconfig: flags.kubeconfig, data: flags.data }, environment)).toBe(want);
  });
}

test("several files in $KUBECONFIG are rejected", () => {
  expect(() => hubKubeconfig({ kubeconfig: undefined, data: undefined }, { KUBECONFIG: "a:b" })).toThrow(
    "names several files",
  );
});

import { expect, test } from "vitest";
import { hubKubeconfig } from "./hub-kubeconfig.ts";

const cases: Record<
  string,
  { flags: { kubeconfig?: string; data?: string }; environment: Record<string, string>; want: string }
> = {
  "the kubeconfig that is named goes first": {
    flags: { kubeconfig: "a", data: "b" },
    environment: { KUBECONFIG: "c" },
    want: "a",
  },
  "a data directory goes before the environment": {
    flags: { data: "b" },
    environment: { KUBECONFIG: "c" },
    want: "b/hub.kubeconfig",
  },
  "the environment goes before the usual place": { flags: {}, environment: { KUBECONFIG: "c" }, want: "c" },
  "the usual place is the data directory's": {
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

test("several files in the environment are nobody's hub", () => {
  expect(() => hubKubeconfig({ kubeconfig: undefined, data: undefined }, { KUBECONFIG: "a:b" })).toThrow(
    "names several files",
  );
});

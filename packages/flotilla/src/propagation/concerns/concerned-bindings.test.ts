import { expect, test } from "vitest";
import { makeBinding, makeCloneSet } from "@flotilla/testing/builders.ts";
import { concernedBindings } from "./concerned-bindings.ts";

const budget = {
  apiVersion: "policy.kruise.io/v1beta1",
  kind: "PodUnavailableBudget",
  metadata: { name: "web", namespace: "shop" },
  spec: { selector: { matchLabels: { app: "web" } }, maxUnavailable: 3 },
};
const [web, other] = [makeCloneSet("shop/web").build(), makeCloneSet("shop/other").build()];
const bindings = [web, other].map((workload) => makeBinding(workload).build());

const namesFor = async (listed: readonly string[]): Promise<unknown> => {
  const found = await concernedBindings(
    {
      hub: "hub",
      bindings: { get: () => undefined, list: () => bindings },
      templates: {
        get: ({ name }) =>
          Promise.resolve(
            listed.includes(name) ? [web, other].find(({ metadata }) => metadata.name === name) : "unknown",
          ),
      },
    },
    budget,
  );
  return found === "unknown" ? found : found.map(({ metadata }) => metadata.name);
};

test("a budget concerns the workloads whose pods it selects", async () => {
  expect(await namesFor(["web", "other"])).toEqual(["web-cloneset"]);
});

test("the workloads of a budget are unknown while one of its namespace is not listed yet", async () => {
  expect(await namesFor(["other"])).toBe("unknown");
  expect(await namesFor(["web"])).toBe("unknown");
});

import { expect, test } from "vitest";
import { optionsOf } from "./manifest-options.ts";

const meta = {
  ordinal: 0,
  group: "apps",
  version: "v1",
  kind: "Deployment",
  resource: "deployments",
  namespace: "shop",
  name: "web-eu-1",
};
const config = (namespace: string, name: string, rest = {}) => ({
  resourceIdentifier: { group: "apps", resource: "deployments", namespace, name },
  updateStrategy: { type: "ReadOnly" as const },
  ...rest,
});

test.each([
  { namespace: "shop", name: "web-eu-1", isMatch: true },
  { namespace: "*", name: "*", isMatch: true },
  { namespace: "shop", name: "web-*-1", isMatch: true },
  { namespace: "s*p", name: "*eu*", isMatch: true },
  { namespace: "shop", name: "web-*eu-1*-1", isMatch: false },
  { namespace: "shop", name: "web", isMatch: false },
  { namespace: "", name: "web-eu-1", isMatch: false },
  { namespace: "shop", name: "web.eu.1", isMatch: false },
])("pattern $namespace/$name matches shop/web-eu-1: $isMatch", ({ namespace, name, isMatch }) => {
  expect(optionsOf(meta, [config(namespace, name)]) !== undefined).toBe(isMatch);
});

test("each option is taken from the first matching config that sets it", () => {
  const feedbackRules = [{ type: "WellKnownStatus" as const }];

  const options = optionsOf(meta, [
    config("shop", "web-eu-1", { feedbackScrapeType: "Watch" }),
    config("*", "*", { updateStrategy: { type: "CreateOnly" }, feedbackRules, feedbackScrapeType: "Poll" }),
  ]);

  expect(options).toEqual({ updateStrategy: { type: "ReadOnly" }, feedbackRules, feedbackScrapeType: "Watch" });
});

import { expect, test } from "vitest";
import { makeBinding, makeDeployment } from "../../testing/index.ts";
import { planDispatched } from "./plan-dispatched.ts";

const NOW = "2024-05-01T12:00:00Z";
const binding = makeBinding(makeDeployment("shop/web").build()).build();

test("a dispatch that works says nothing, which costs no write", () => {
  expect(planDispatched(binding, undefined, NOW)).toBe(binding);
});

test("one that fails says why, and takes it back when it works again", () => {
  const failed = planDispatched(binding, "applying override policy registry", NOW);
  expect(failed.status?.conditions).toMatchObject([{ type: "Dispatched", status: "False", message: "applying override policy registry; these members keep what they have" }]);

  expect(planDispatched(failed, undefined, NOW).status?.conditions).toMatchObject([{ type: "Dispatched", status: "True" }]);
});

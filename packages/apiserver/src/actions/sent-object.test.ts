import { createFakeClock } from "@flotilla/base";
import { SelfSubjectAccessReview } from "@flotilla/kubernetes";
import { expect, test } from "vitest";
import type { RequestContext } from "../request/context.ts";
import { createResources, createResourceTable } from "../resources/resources.ts";
import type { Input } from "./action.ts";
import { readSent } from "./sent-object.ts";

const table = createResourceTable(createResources([SelfSubjectAccessReview]));
const resource = table.resource(SelfSubjectAccessReview.group, SelfSubjectAccessReview.plural);

test("a large review is read in steps, between which others run", async () => {
  const steps: string[] = [];
  const context = {
    cluster: { name: "hub" },
    served: resource?.versions[0],
    query: new URLSearchParams(),
    user: { name: "ann", groups: [] },
    userAgent: "test",
    warn: () => {},
    pause: async () => void steps.push("pause"),
  } as unknown as RequestContext;
  const input = {
    object() {
      steps.push("decode");
      return { object: { spec: { nonResourceAttributes: { path: "/" } } }, duplicates: [] };
    },
  } as unknown as Input;

  await readSent(context, input, { clock: createFakeClock(), facts: "authorization-v1" });

  expect(steps).toEqual(["decode", "pause", "pause", "pause"]);
});

import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Template } from "../propagation/templates/templates.ts";
import type { FleetPlan, MemberChange } from "./plan-fleet.ts";
import { planRetained, planSetLater } from "./plan-retained.ts";

const configMap = (data: object): Template =>
  ({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "shop", name: "web" }, data }) as never;
const work = (data: object): object => ({
  metadata: { namespace: "karmada-es-oslo", name: "web" },
  spec: { workload: { manifests: [configMap(data)] } },
});
const plan = {
  templates: [{ template: configMap({}), works: { before: [work({ a: "1" })], after: [work({ a: "2" })] } }],
  works: [],
} as unknown as FleetPlan;
const change: MemberChange = {
  cluster: "oslo",
  action: "update",
  object: { apiVersion: "v1", kind: "ConfigMap", namespace: "shop", name: "web" },
  fields: [{ path: "data.a", before: "1", after: "2" }],
};
/** Sets a value that neither the hub nor the member has. */
const interpreter = {
  ownerOf: () => "rules",
  retain: (desired: KubernetesObject | Template) => {
    const { data } = desired as unknown as { data: object };
    return Promise.resolve({ ...desired, data: { ...data, mode: "set" } } as unknown as Template);
  },
};

test("a value that the Retain rule sets itself is one of the changes, with the value that the member has", async () => {
  const ended = await planRetained(plan, change, configMap({ a: "1", mode: "theirs", kept: "1" }), interpreter);

  expect(ended).toMatchObject({
    outcome: "change",
    change: {
      fields: [
        { path: "data.a", before: "1", after: "2" },
        { path: "data.mode", before: "theirs", after: "set" },
      ],
    },
  });
});

test("it is none once the member has it", async () => {
  const ended = await planRetained(plan, change, configMap({ a: "1", mode: "set" }), interpreter);

  expect(ended).toMatchObject({ change: { fields: [{ path: "data.a", before: "1", after: "2" }] } });
});

test("a new copy gets it when the hub next changes the copy, and the plan says so", async () => {
  expect(await planSetLater(plan, { ...change, action: "create" }, interpreter)).toBe(
    'the Retain rule of rules sets data.mode to "set" when the hub next changes the copy',
  );
});

test("the note distinguishes a value of the rule from one of the member", async () => {
  const both = {
    ownerOf: () => "rules",
    retain: (_: unknown, observed: Template) => {
      const { data } = observed as unknown as { data: { a: string } };
      return Promise.resolve(configMap({ a: data.a, mode: "set" }));
    },
  };

  const ended = await planRetained(plan, change, configMap({ a: "theirs", mode: "set" }), both);

  expect(ended).toEqual({
    outcome: "none",
    note:
      'the member decides, by the Retain rule of rules: data.a is "theirs", the hub asks for "2"; ' +
      'the Retain rule of rules decides: data.mode is "set", the hub asks for unset',
  });
});

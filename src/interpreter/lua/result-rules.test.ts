import { expect, test } from "vitest";
import { deepFreeze } from "../../base/index.ts";
import type { JsonObject } from "../../base/index.ts";
import { aggregateStatus, retain, reviseReplica } from "./operations.ts";
import { compileScript } from "./script.ts";

const object = deepFreeze({
  kind: "Web",
  metadata: { name: "web", labels: {} },
  spec: {
    list: [],
    map: {},
    items: [
      { e: {}, l: [] },
      { e: {}, v: 1 },
    ],
  },
}) as unknown as JsonObject;
const observed = deepFreeze({
  kind: "Web",
  metadata: { name: "web" },
  spec: { extra: { e: {} }, map: {} },
}) as unknown as JsonObject;

const cases: Record<string, { body: string; spec: unknown }> = {
  "an empty value that the script leaves alone stays": {
    body: "",
    spec: {
      list: [],
      map: {},
      items: [
        { e: {}, l: [] },
        { e: {}, v: 1 },
      ],
    },
  },
  "an empty value beside a change stays": {
    body: "o.spec.replicas = 1",
    spec: {
      list: [],
      map: {},
      items: [
        { e: {}, l: [] },
        { e: {}, v: 1 },
      ],
      replicas: 1,
    },
  },
  "an empty value that is moved is dropped": {
    body: "o.spec.other = o.spec.map o.spec.map = nil o.spec.items = nil",
    spec: { list: [] },
  },
  "what is moved loses the empty values inside it": {
    body: "o.spec = { again = o.spec.items }",
    spec: { again: [{}, { v: 1 }] },
  },
  "an empty value may go to where another of its kind was": {
    body: "o.spec.items = { { e = {} } }",
    spec: { list: [], map: {}, items: [{ e: {} }] },
  },
  "a new empty value is dropped": { body: "o.spec = { fresh = {}, list = {} }", spec: { list: [] } },
  "an element may change its position": {
    body: "o.spec.items = { o.spec.items[2], o.spec.items[1] }",
    spec: {
      list: [],
      map: {},
      items: [
        { e: {}, v: 1 },
        { e: {}, l: [] },
      ],
    },
  },
};

for (const [behaviour, { body, spec }] of Object.entries(cases)) {
  test(behaviour, () => {
    const script = compileScript(`function ReviseReplica(o) ${body} return o end`);

    expect(reviseReplica(script, object, 1)["spec"]).toEqual(spec);
  });
}

test("what is taken from the observed object keeps its empty values where it had them", () => {
  const script = compileScript(
    "function Retain(desired, observed) desired.spec.extra = observed.spec.extra desired.spec.copy = observed.spec.extra return desired end",
  );

  expect(retain(script, object, observed)["spec"]).toEqual({
    ...(object["spec"] as JsonObject),
    extra: { e: {} },
    copy: {},
  });
});

test("without an object to compare with every empty value is dropped", () => {
  const script = compileScript("function AggregateStatus(o) o.status = { n = 1, none = {} } return o end");

  expect(aggregateStatus(script, object, [])).toEqual({
    kind: "Web",
    metadata: { name: "web" },
    spec: { items: [{}, { v: 1 }] },
    status: { n: 1 },
  });
});

import { expect, test } from "vitest";
import { deepFreeze } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { aggregateStatus, retain, reviseReplica } from "./operations.ts";
import { compileScript } from "@flotilla/lua";

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
  "keeps an empty value that the script does not touch": {
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
  "keeps an empty value beside a change": {
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
  "drops an empty value that is moved": {
    body: "o.spec.other = o.spec.map o.spec.map = nil o.spec.items = nil",
    spec: { list: [] },
  },
  "drops empty values inside a moved value": {
    body: "o.spec = { again = o.spec.items }",
    spec: { again: [{}, { v: 1 }] },
  },
  "keeps an empty value that is moved to a path of another one of its type": {
    body: "o.spec.items = { { e = {} } }",
    spec: { list: [], map: {}, items: [{ e: {} }] },
  },
  "drops a new empty value": { body: "o.spec = { fresh = {}, list = {} }", spec: { list: [] } },
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

test("values taken from the observed object keep their empty values at the same path", () => {
  const script = compileScript(
    "function Retain(desired, observed) desired.spec.extra = observed.spec.extra desired.spec.copy = observed.spec.extra return desired end",
  );

  expect(retain(script, object, observed)["spec"]).toEqual({
    ...(object["spec"] as JsonObject),
    extra: { e: {} },
    copy: {},
  });
});

test("drops every empty value without a reference object", () => {
  const script = compileScript("function AggregateStatus(o) o.status = { n = 1, none = {} } return o end");

  expect(aggregateStatus(script, object, [])).toEqual({
    kind: "Web",
    metadata: { name: "web" },
    spec: { items: [{}, { v: 1 }] },
    status: { n: 1 },
  });
});

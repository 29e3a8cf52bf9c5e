import { expect, test, vi } from "vitest";
import { inOrder } from "./field-order.ts";

const orderOf = (set: object): string => JSON.stringify(inOrder(set as never));

test("the node itself comes first, then fields by name, at every depth", () => {
  expect(orderOf({ "f:spec": { "f:name": {}, "f:image": {}, ".": {} }, "f:data": {} })).toBe(
    '{"f:data":{},"f:spec":{".":{},"f:image":{},"f:name":{}}}',
  );
});

test("elements are ordered by the values of their keys, numbers as numbers", () => {
  const set = {
    'k:{"port":443,"protocol":"TCP"}': {},
    'k:{"port":80,"protocol":"UDP"}': {},
    'k:{"port":80,"protocol":"TCP"}': {},
    ".": {},
  };

  expect(Object.keys(inOrder(set))).toEqual([
    ".",
    'k:{"port":80,"protocol":"TCP"}',
    'k:{"port":80,"protocol":"UDP"}',
    'k:{"port":443,"protocol":"TCP"}',
  ]);
});

test("indexes are ordered as numbers and values as strings", () => {
  expect(Object.keys(inOrder({ "i:10": {}, "i:9": {}, 'v:"b"': {}, 'v:"a"': {} }))).toEqual([
    'v:"a"',
    'v:"b"',
    "i:9",
    "i:10",
  ]);
});

test("an index with leading zeros from a client is ordered too", () => {
  expect(Object.keys(inOrder({ "i:10": {}, "i:009": {} }))).toEqual(["i:009", "i:10"]);
});

test("a set that is already in order is not copied", () => {
  const set = { "f:a": { ".": {}, "f:b": {} }, "f:c": {} };

  expect(inOrder(set)).toBe(set);
});

test("the keys of an element are parsed at most twice, regardless of the number of elements", () => {
  const set = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`k:{"port":${(index * 7919) % 1000}}`, {}]),
  );
  const parse = vi.spyOn(JSON, "parse");

  const ordered = Object.keys(inOrder(set));
  const reads = parse.mock.calls.length;
  parse.mockRestore();

  expect(ordered.slice(0, 2)).toEqual(['k:{"port":0}', 'k:{"port":1}']);
  expect(reads).toBeLessThanOrEqual(2000);
});

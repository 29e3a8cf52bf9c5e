import { expect, test } from "vitest";
import { parseListing, plainName, readCatalogue, selectTests } from "./catalogue.ts";
import type { CatalogueEntry } from "./catalogue.ts";

const listing = `The following spec names can be used with 'ginkgo run --focus/skip':
    ../e2e/apimachinery/watch.go:1: [sig-api-machinery] Watchers should see events in order [Conformance]
    ../e2e/node/lifecycle.go:2: [sig-node] Node Lifecycle [Serial] should run through the lifecycle of a node. [Conformance]
`;

test("a plain name keeps the area and drops the other tags and the full stop", () => {
  expect(
    plainName(
      "[sig-api-machinery] ResourceQuota [Feature:PodPriority] should verify a scope (count: 1). [Conformance]",
    ),
  ).toBe("[sig-api-machinery] ResourceQuota should verify a scope (count: 1)");
});

test("a listed test is found by its plain name, and a serial one is marked", () => {
  const entry: CatalogueEntry = {
    name: "[sig-node] Node Lifecycle should run through the lifecycle of a node",
    suite: "conformance",
  };

  const tests = selectTests([entry], parseListing(listing));

  expect(tests).toEqual([
    {
      ...entry,
      fullName: "[sig-node] Node Lifecycle [Serial] should run through the lifecycle of a node. [Conformance]",
      serial: true,
    },
  ]);
});

test("a focus matches tests that are not listed", () => {
  const tests = selectTests([], parseListing(listing), /Watchers/);

  expect(tests.map(({ name, suite }) => ({ name, suite }))).toEqual([
    { name: "[sig-api-machinery] Watchers should see events in order", suite: "other" },
  ]);
});

test("a listed test that the suite lacks is an error", () => {
  expect(() => selectTests([{ name: "[sig-x] gone", suite: "conformance" }], parseListing(listing))).toThrow(
    "has no test '[sig-x] gone'",
  );
});

test("the list names each test once", () => {
  const names = readCatalogue().map(({ name }) => name);

  expect(new Set(names).size).toBe(names.length);
});

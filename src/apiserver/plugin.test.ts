import { expect, test } from "vitest";
import { createPlugins, type Plugin } from "./plugin.ts";

const make = (name: string, group?: string): Plugin => ({
  name,
  ...(group !== undefined && { group }),
  concerns: () => true,
});
const namesFor = (group: string): string[] =>
  createPlugins([make("pods", ""), make("quota"), make("devices", "resource.k8s.io"), make("deletion")])
    .of(group)
    .map(({ name }) => name);

test("a write calls the plugins of its API group and those of all groups, in order", () => {
  expect(namesFor("")).toEqual(["pods", "quota", "deletion"]);
  expect(namesFor("resource.k8s.io")).toEqual(["quota", "devices", "deletion"]);
});

test("a write of a group without plugins calls only those of all groups", () => {
  expect(namesFor("apps")).toEqual(["quota", "deletion"]);
});

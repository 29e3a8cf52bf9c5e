import { describe, expect, test } from "vitest";
import { defineCommand } from "../command.ts";
import { offerCommands, offerFor } from "./offer-completions.ts";

const sail = defineCommand({
  name: "sail",
  summary: "go somewhere",
  example: [],
  args: [
    { name: "ACTION", description: "out or home", required: true, choices: ["out", "home"] },
    { name: "PORT", description: "where to", required: false, completes: "cluster", repeated: true },
  ],
  flags: {
    rig: { type: "string", short: "r", choices: ["sloop", "ketch"], description: "what ship" },
    crew: { type: "string", value: "NAME", repeated: true, description: "who comes" },
    log: { type: "string", value: "FILE", description: "where to write" },
    home: { type: "string", value: "DIR", description: "where to live" },
    namespace: { type: "string", short: "n", value: "NS", description: "whose port" },
    speed: { type: "string", value: "KNOTS", offers: ["slow", "fast"], description: "or a number" },
    night: { type: "boolean", description: "also at night" },
    print: { type: "string", value: "wide|name|jsonpath=EXPRESSION", description: "how" },
  },
  run: () => Promise.resolve(),
});

const values = (...words: string[]): string[] => offerFor(sail, words).candidates.map(({ value }) => value);
const wanted = (...words: string[]): string | undefined => offerFor(sail, words).wanted?.completes;

test("the first word is a command, with its summary", () => {
  expect(
    offerCommands(
      [
        { name: "status", summary: "look" },
        { name: "snapshot", summary: "save" },
      ],
      "st",
    ),
  ).toEqual([{ value: "status", says: "look" }]);
});

const fixed: Record<string, { words: string[]; want: string[] }> = {
  "choices of an argument": { words: [""], want: ["out", "home"] },
  "choices that match the typed prefix": { words: ["h"], want: ["home"] },
  "choices of a flag": { words: ["out", "--rig", "k"], want: ["ketch"] },
  "choices of a flag by its short name": { words: ["out", "-r", ""], want: ["sloop", "ketch"] },
  "choices after an equals sign": { words: ["out", "--rig=s"], want: ["--rig=sloop"] },
  "words that a flag offers among other values": { words: ["--speed", "f"], want: ["fast"] },
  "words that the name of a flag's value lists": { words: ["--print", ""], want: ["wide", "name", "jsonpath="] },
  "flags that match the typed prefix": { words: ["out", "--n"], want: ["--namespace", "--night", "--no-color"] },
  "no flags that were already given": { words: ["--night", "--n"], want: ["--namespace", "--no-color"] },
  "flags that may be repeated": { words: ["--crew", "ann", "--c"], want: ["--crew"] },
  "flags after a value attached to a short flag": { words: ["-nshop", "--n"], want: ["--night", "--no-color"] },
  "no flags after --": { words: ["out", "--", "--n"], want: [] },
  "nothing for an unknown flag": { words: ["--colour="], want: [] },
  "arguments, not counting flag values": { words: ["--crew", "ann", ""], want: ["out", "home"] },
};
describe("completion offers", () => {
  for (const [behaviour, { words, want }] of Object.entries(fixed)) {
    test(behaviour, () => {
      expect(values(...words)).toEqual(want);
    });
  }
});

test("values from outside are requested: files, folders, namespaces, members", () => {
  expect([
    wanted("--log", ""),
    wanted("--home", "/"),
    wanted("-n", "s"),
    wanted("--namespace=s"),
    wanted("out", ""),
    wanted("out", "oslo", "b"),
  ]).toEqual(["file", "directory", "namespace", "namespace", "cluster", "cluster"]);
});

test("a prefix in the same word is kept", () => {
  expect(offerFor(sail, ["--namespace=sh"]).wanted).toMatchObject({ typed: "sh", before: "--namespace=" });
});

test("earlier words provide the context", () => {
  const line = offerFor(sail, ["out", "--crew", "ann", "--crew=bob", "-nshop", ""]).wanted?.line;

  expect(line?.args).toEqual(["out"]);
  expect(line?.flags.get("crew")).toEqual(["ann", "bob"]);
  expect(line?.flags.get("namespace")).toEqual(["shop"]);
});

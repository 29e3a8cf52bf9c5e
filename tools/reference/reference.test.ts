import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { commands } from "@flotilla/cli";
import { commandNotes } from "./command-notes.ts";
import { errorCodes } from "./error-codes.ts";
import { codesIn, readSources } from "./errors.ts";
import { fieldsOf } from "./fields.ts";
import { servedKinds } from "./kinds.ts";
import { table } from "./markdown.ts";
import { pages } from "./reference-pages.ts";

const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

describe("pages", () => {
  for (const { file, render } of pages) {
    test(`${file} is up to date with the code`, async () => {
      const path = join(CHECKOUT, file);

      const isCurrent = existsSync(path) && readFileSync(path, "utf8") === (await render());

      expect(isCurrent, `${file} is out of date: run npm run reference`).toBe(true);
    });
  }

  test("notes cover only existing commands and errors", () => {
    const codes = codesIn(readSources());

    const gone = {
      commands: Object.keys(commandNotes).filter((name) => !commands.some((command) => command.name === name)),
      errors: Object.keys(errorCodes).filter((name) => !codes.includes(name)),
    };

    expect(gone).toEqual({ commands: [], errors: [] });
  });

  test("every kind of other projects has a description", () => {
    const silent = servedKinds()
      .map(({ kind }) => kind)
      .filter((kind) => /karmada|kruise|open-cluster|argo|flotilla/.test(kind.group))
      .filter((kind) => !kind.versions[kind.storageVersion]?.schema.description);

    expect(silent.map(({ kind }) => kind)).toEqual([]);
  });
});

describe("error codes", () => {
  test("are found where errors are created, and where error classes pass one on", () => {
    const codes = codesIn([
      'throw new FlotillaError("Store", "x")',
      'throw new FlotillaError(\n  "Adopt",\n  "x")',
      'class A extends FlotillaError { constructor() { super("Usage", "x"); } }',
      'class B extends Cell { constructor() { super("NotACode", 1); } }',
      'new FlotillaError("Store", "again")',
    ]);

    expect(codes).toEqual(["Adopt", "Store", "Usage"]);
  });
});

describe("fields", () => {
  test("are listed with their path, type, default and description", () => {
    const rows = fieldsOf({
      type: "object",
      required: ["spec"],
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: { type: "object" },
        spec: {
          type: "object",
          required: ["mode"],
          properties: {
            mode: { type: "string", enum: ["a", "b"], default: "a", description: "How." },
            items: {
              type: "array",
              items: { type: "object", properties: { at: { type: "string", format: "date-time" } } },
            },
            limits: { type: "object", additionalProperties: { "x-kubernetes-int-or-string": true } },
          },
        },
      },
    });

    expect(rows).toEqual([
      { path: "spec", type: "object", notes: "required" },
      { path: "spec.mode", type: "text", notes: "required; `a`, `b`; default `a`. How." },
      { path: "spec.items", type: "list", notes: "" },
      { path: "spec.items[].at", type: "time", notes: "" },
      { path: "spec.limits", type: "map", notes: "" },
    ]);
  });

  test("fields of common Kubernetes types are not listed", () => {
    const selector = {
      type: "object",
      properties: { matchLabels: { type: "object" }, matchExpressions: { type: "array" } },
    } as const;

    const rows = fieldsOf({
      type: "object",
      properties: {
        spec: {
          type: "object",
          properties: {
            selector,
            template: {
              type: "object",
              properties: { spec: { type: "object", properties: { containers: { type: "array" } } } },
            },
          },
        },
        status: {
          type: "object",
          properties: {
            conditions: {
              type: "array",
              items: { type: "object", properties: { type: { type: "string" }, status: { type: "string" } } },
            },
          },
        },
      },
    });

    expect(rows.map(({ path, type }) => `${path}: ${type}`)).toEqual([
      "spec: object",
      "spec.selector: label selector",
      "spec.template: pod template",
      "status: object",
      "status.conditions: conditions",
    ]);
  });
});

test("a table keeps pipes and line feeds in its cells", () => {
  expect(table(["a", "b"], [["x|y", "one\ntwo"]])).toBe("| a | b |\n|---|---|\n| x\\|y | one two |");
});

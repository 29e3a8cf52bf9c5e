import { describe, expect, test } from "vitest";
import { UsageError } from "@flotilla/base";
import { readPrintFormat } from "./print-format.ts";
import type { PrintFormat } from "./print-format.ts";

const LIST = {
  kind: "List",
  items: [
    { metadata: { name: "a", labels: { "app.io/x": "1" } }, spec: { replicas: 2, images: ["i", "j"] } },
    { metadata: { name: "b" }, spec: { ready: true } },
  ],
};

describe("a JSON path template", () => {
  const cases: Record<string, { template: string; want: string }> = {
    "values of a path are separated by spaces": { template: "{.items[*].metadata.name}", want: "a b" },
    "text is printed literally": { template: "names: {.items[*].metadata.name}!", want: "names: a b!" },
    "escapes in quotes are characters": { template: '{.kind}{"\\t"}{.kind}{"\\n"}', want: "List\tList\n" },
    "a range is printed for each item": {
      template: '{range .items[*]}{.metadata.name}={.spec.replicas}{"\\n"}{end}',
      want: "a=2\nb=\n",
    },
    "ranges may be nested": {
      template: "{range .items[*]}{range .spec.images[*]}<{@}>{end}{end}",
      want: "<i><j>",
    },
    "objects and lists are JSON": { template: "{.items[0].spec.images}", want: '["i","j"]' },
    "a brace in quotes is text": { template: '{"}"}{.kind}', want: "}List" },
    "a path without braces is a path": { template: ".items[1].spec.ready", want: "true" },
    "a key with dots is written with backslashes": { template: "{.items[0].metadata.labels.app\\.io/x}", want: "1" },
    "a missing value is empty": { template: "{.items[9].metadata.name}", want: "" },
  };
  for (const [behaviour, { template, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const format = readPrintFormat(`jsonpath=${template}`) as Extract<PrintFormat, { as: "template" }>;

      expect(format.render(LIST)).toBe(want);
    });
  }

  test("prints all items of a large fleet", () => {
    const format = readPrintFormat("jsonpath={.items[*].n}") as Extract<PrintFormat, { as: "template" }>;

    const text = format.render({ items: Array.from({ length: 20_000 }, (_, n) => ({ n })) });

    expect(text.split(" ")).toHaveLength(20_000);
  });

  for (const template of ["{.a", "{end}", "{range .a}x", "{.a[}", "{range .a}".repeat(40)]) {
    test(`${template.slice(0, 12)} is a usage error`, () => {
      expect(() => readPrintFormat(`jsonpath=${template}`)).toThrow(UsageError);
    });
  }
});

describe("custom columns", () => {
  test("are a header and a path each, with or without the leading dot", () => {
    const { columns } = readPrintFormat(
      "custom-columns=NAME:.metadata.name,N:spec.replicas,FIRST:{.spec.images[0,1]}",
    ) as Extract<PrintFormat, { as: "columns" }>;

    expect(columns.map(({ header, cell }) => [header, cell(LIST.items[0]), cell(LIST.items[1])])).toEqual([
      ["NAME", "a", "b"],
      ["N", "2", "<none>"],
      ["FIRST", "i,j", "<none>"],
    ]);
  });

  test("custom columns without a path are a usage error", () => {
    expect(() => readPrintFormat("custom-columns=NAME")).toThrow("'NAME' is not a column");
  });
});

test("an unknown format is a usage error", () => {
  expect(() => readPrintFormat("toml")).toThrow(
    "-o must be one of table, wide, json, yaml, name, jsonpath=…, go-template=…, custom-columns=…, not 'toml'",
  );
});

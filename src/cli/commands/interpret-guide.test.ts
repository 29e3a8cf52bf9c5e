/** The examples in the guide do what the guide says. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createFakeClock } from "../../base/index.ts";
import type { InterpretRequest } from "../interpret/inputs.ts";
import { interpret } from "../interpret/run.ts";
import { createOutput } from "../output.ts";

const guide = readFileSync(new URL("../../../docs/interpreter.md", import.meta.url), "utf8");
const blocks = [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = "", text = ""]) => ({ language, text }));
const [customization = "", fixtures = ""] = blocks.filter(({ language }) => language === "yaml").map(({ text }) => text);
const [mistake = "", report = ""] = blocks.filter(({ language }) => language === "text").map(({ text }) => text);

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flotilla-guide-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(request: Partial<InterpretRequest>, files: Readonly<Record<string, string>>): Promise<{ out: string; error: string }> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  let out = "";
  const output = createOutput({ format: "table", write: (text) => void (out += text), warn: (text) => void (out += text), showProgress: () => {} });
  const complete: InterpretRequest = { files: [join(folder, "gamefleet.yaml")], recursive: false, operation: undefined, desiredFile: undefined, observedFile: undefined, statusFile: undefined, replicas: 0, shares: [], check: false, showDocumentation: false, tests: [], ...request };
  const error = await interpret(complete, { output, clock: createFakeClock(), reach: { readInput: () => Promise.resolve(""), download: () => Promise.resolve("") } }).then(
    () => "",
    (failure: Error) => failure.message,
  );
  return { out: out.replaceAll(`${folder}/`, ""), error: error.replaceAll(`${folder}/`, "") };
}

test("the guide's customization passes the check without a warning", async () => {
  const { out, error } = await run({ check: true }, { "gamefleet.yaml": customization });

  expect(error).toBe("");
  expect(out).not.toContain("Warning");
});

test("the guide's fixtures pass", async () => {
  const { out, error } = await run({ tests: [join(folder, "tests.yaml")] }, { "gamefleet.yaml": customization, "tests.yaml": fixtures });

  expect(error).toBe("");
  expect(out).toContain("4 passed, 0 failed");
});

test("a rule with a mistake gives the report that the guide shows", async () => {
  const { out } = await run({ tests: [join(folder, "tests.yaml")] }, { "gamefleet.yaml": customization.replace("item.status.ready or 0", "item.status.raedy or 0"), "tests.yaml": fixtures });

  expect(out).toBe(report.replaceAll("tests/gamefleet.yaml", "tests.yaml"));
});

test("a script with a mistake gives the message that the guide shows", async () => {
  const { error } = await run({ check: true }, { "gamefleet.yaml": customization.replace("~= nil and", "~= nil an") });

  expect(error).toBe(`1 of 1 did not pass\n${mistake.trimEnd()}`);
});

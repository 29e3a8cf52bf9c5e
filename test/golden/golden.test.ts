import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MESSAGE_CLASSES } from "../../tools/golden/message-dumps.ts";
import { listRecordings, readDifferences, readRecording, runGolden } from "../../tools/golden/golden.ts";

const directory = import.meta.dirname;
const differencesFile = join(directory, "differences.json");
const { cases: differences, messages } = readDifferences(differencesFile);

describe.each(listRecordings(directory))("the recording %s", (file) => {
  // Recordings of the API server wait for events; the limit allows for busy machines.
  test("agrees with the original except for listed differences", { timeout: 120_000 }, async () => {
    const { files } = await runGolden({ directory, differences, only: [file] });

    expect(files).toHaveLength(1);
    expect(files[0]?.failed).toEqual([]);
    expect(files[0]?.passed).toBeGreaterThan(0);
    expect(files[0]?.stale).toEqual([]);
  });
});

test("every listed difference names a recorded case and gives a reason", () => {
  expect(existsSync(differencesFile)).toBe(true);

  for (const [file, cases] of Object.entries(differences)) {
    const names = new Set(readRecording(directory, file).map(({ name }) => name));
    for (const [name, reason] of Object.entries(cases)) {
      expect(names, `${name} of ${file}`).toContain(name);
      expect(reason.length, `the reason of ${name}`).toBeGreaterThan(20);
    }
  }
});

test("every class of message parts that are not compared has a reason and occurs in a recording", () => {
  const recorded = listRecordings(directory).flatMap((file) => readRecording(directory, file).flatMap(messagesIn));

  expect(Object.keys(messages).toSorted()).toEqual(Object.keys(MESSAGE_CLASSES).toSorted());
  for (const [name, strip] of Object.entries(MESSAGE_CLASSES))
    expect(
      recorded.some((text) => strip(text) !== text),
      name,
    ).toBe(true);
});

function messagesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === "message" && typeof part === "string" ? [part] : messagesIn(part),
  );
}

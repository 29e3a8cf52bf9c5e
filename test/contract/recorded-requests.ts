/**
 * Replays requests for another project's kinds against Flotilla and compares the responses with the recorded ones of
 * that project's server. Intended differences are listed with the reason; a test fails if a listed case no longer
 * differs.
 */
import { defined } from "@flotilla/base";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "@flotilla/base";

export interface RecordedStep {
  /** `POST /apis/…` */
  request: string;
  /** The user that the administrator impersonates. */
  as?: string;
  body?: JsonObject;
  table?: true;
  answer: JsonObject;
}

export interface RecordedCase {
  name: string;
  steps: RecordedStep[];
}

export function readRecordedLines(file: URL): string[] {
  return gunzipSync(readFileSync(file)).toString().trimEnd().split("\n");
}

export function headersOf({ request, table, as }: Omit<RecordedStep, "answer">): Record<string, string> {
  return {
    accept: table ? "application/json;as=Table;v=v1;g=meta.k8s.io" : "application/json",
    "content-type": request.startsWith("PATCH ") ? "application/merge-patch+json" : "application/json",
    ...defined({ "impersonate-user": as }),
  };
}

export interface RecordedTests {
  cases: readonly RecordedCase[];
  /** Why the response differs, by case name. */
  different: Readonly<Record<string, string>>;
  play(steps: readonly RecordedStep[]): Promise<Json[]>;
  /** The recorded response, without known general differences. */
  answerOf(step: RecordedStep): JsonObject;
}

export function testRecordings({ cases, different, play, answerOf }: RecordedTests): void {
  const recorded = ({ steps }: RecordedCase): Json[] => steps.map(answerOf);
  const differs = ({ name }: RecordedCase): boolean => Object.hasOwn(different, name);

  test.for(cases.filter((one) => !differs(one)))("$name", async (one) => {
    expect(await play(one.steps)).toEqual(recorded(one));
  });

  test.for(cases.filter(differs))("$name: differs intentionally", async (one) => {
    expect(await play(one.steps)).not.toEqual(recorded(one));
  });

  test("every listed difference names an existing case", () => {
    const names = new Set(cases.map(({ name }) => name));

    expect(Object.keys(different).filter((name) => !names.has(name))).toEqual([]);
  });
}

/** Compares Flotilla with the recorded responses of OpenKruise 1.9.1's webhooks, case by case. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { equalJson } from "@flotilla/base";
import { flotillaResponse, UNSUPPORTED_KINDS, recordedAnswers, type Recorded } from "./testdata/recorded-webhooks.ts";

const text = gunzipSync(
  readFileSync(new URL("../../../../test/golden/openkruise-validation.jsonl.gz", import.meta.url)),
).toString();
const recorded = text
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Recorded);

const NO_PULLS =
  "an AdvancedCronJob of image pulls is readable in v1alpha1, which upstream's conversion rejects, and with it every list";

/** Cases in which Flotilla responds differently, each with the reason. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  "validation/validate/0615":
    "a revision that is not there is named as on a real cluster (see the recorded scenarios); the recording's client names it `controllerrevisions.apps`",
  "validation/convert/0874": NO_PULLS,
  "validation/convert/0875": NO_PULLS,
  "validation/convert/0880": NO_PULLS,
  "validation/convert/0881": NO_PULLS,
};

describe.for(["default", "validate", "convert"] as const)("%s", (kind) => {
  const cases = recorded.filter(
    ({ name, input }) => input.kind === kind && !UNSUPPORTED_KINDS.includes(input.object.kind) && !DIFFERENCES[name],
  );

  test.for(cases.map((one) => [one.name, one] as const))("%s", ([, one]) => {
    expect(recordedAnswers(one)).toContainEqual(flotillaResponse(one));
  });
});

test("every listed difference still exists", () => {
  const same = recorded.filter(
    (one) => DIFFERENCES[one.name] && recordedAnswers(one).some((answer) => equalJson(flotillaResponse(one), answer)),
  );

  expect(same.map(({ name }) => name)).toEqual([]);
});

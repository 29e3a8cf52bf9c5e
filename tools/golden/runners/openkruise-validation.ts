/**
 * `openkruise-validation.jsonl`: what OpenKruise's webhooks default, reject and convert. Messages are compared loosely;
 * the invalid field and its error type are not.
 */
import {
  flotillaResponse,
  UNSUPPORTED_KINDS,
  recordedAnswers,
  type Recorded,
} from "../../../packages/openkruise/src/api/testdata/recorded-webhooks.ts";
import { equalJson, isObject, type Json } from "@flotilla/base";
import type { CaseRunner, GoldenCase } from "../golden.ts";

const kindOf = (line: GoldenCase): string => (line as unknown as Recorded).input.object.kind;

export const openKruiseValidation: CaseRunner = {
  check(line) {
    if (UNSUPPORTED_KINDS.includes(kindOf(line))) return `${kindOf(line)} is not served yet`;
    const one = line as unknown as Recorded;
    const got = withoutMessage(flotillaResponse(one));
    const want = recordedAnswers(one).map(withoutMessage);
    return want.some((accepted) => equalJson(got, accepted))
      ? undefined
      : `got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`;
  },
  reasonFor: (line) =>
    UNSUPPORTED_KINDS.includes(kindOf(line))
      ? "The CRDs of OpenKruise's other kinds are served when their controllers exist."
      : undefined,
};

function withoutMessage(answer: Json): Json {
  if (!isObject(answer)) return answer;
  const { message: _message, ...rest } = answer;
  return rest;
}

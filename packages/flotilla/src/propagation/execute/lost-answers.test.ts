import { expect, test } from "vitest";
import { createLostAnswers } from "./lost-answers.ts";
import type { Failure } from "./plan-applied.ts";

const web = { cluster: "hub", namespace: "karmada-es-oslo", name: "web" };
const failed = (reason: Failure["reason"]): Failure => ({ reason, message: "no answer" });

test("a lost answer is remembered while the member is unreachable, until it answers", () => {
  const answers = createLostAnswers();

  const reasons = [
    failed("MemberUnreachable"),
    failed("NoAnswer"),
    failed("MemberUnreachable"),
    undefined,
    failed("MemberUnreachable"),
  ].map((failure) => answers.after(web, failure)?.reason);

  expect(reasons).toEqual(["MemberUnreachable", "NoAnswer", "NoAnswer", undefined, "MemberUnreachable"]);
});

test("a rejection is an answer", () => {
  const answers = createLostAnswers();
  answers.after(web, failed("NoAnswer"));

  answers.after(web, failed("AppliedFailed"));

  expect(answers.after(web, failed("MemberUnreachable"))?.reason).toBe("MemberUnreachable");
});

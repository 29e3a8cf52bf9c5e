import { expect, test } from "vitest";
import { badRequest, internalError, notFound, tooManyRequests, unavailable } from "./status.ts";

test("failures of the server have a stack, mistakes of clients have none", () => {
  const { stackTraceLimit } = Error;
  const hasStack = ({ stack }: Error): boolean => stack?.includes("status.test.ts") ?? false;

  expect([internalError("x"), unavailable("x")].map(hasStack)).toEqual([true, true]);
  expect([badRequest("x"), notFound({ group: "", resource: "pods" }, "a"), tooManyRequests("x")].map(hasStack)).toEqual(
    [false, false, false],
  );
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});

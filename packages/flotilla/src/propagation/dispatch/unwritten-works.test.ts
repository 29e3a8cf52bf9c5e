import { expect, test } from "vitest";
import { ApiError, forbidden } from "@flotilla/apimachinery";
import { OwnedSetError } from "@flotilla/controller-runtime";
import { createUnwrittenWorks } from "./unwritten-works.ts";

const works = { group: "work.karmada.io", resource: "works" };
const write = (cluster: string, error: Error, verb: "update" | "delete" = "update") => ({
  key: { cluster: "hub", namespace: `karmada-es-${cluster}`, name: "web-5d4f" },
  verb,
  error,
});
const failure = (...writes: ReturnType<typeof write>[]) => new OwnedSetError("works", writes, 3);
const frozen = forbidden(works, "web-5d4f", "change freeze");
const unavailable = (message: string, code = 500) =>
  new ApiError({
    apiVersion: "v1",
    kind: "Status",
    metadata: {},
    status: "Failure",
    reason: "InternalError",
    code,
    message,
  });

test("a rejection is reported at once, by cause, without the name of the Work, and tried again after ten seconds", () => {
  const unwritten = createUnwrittenWorks();

  const found = unwritten.failed("a", failure(write("paris", frozen), write("oslo", frozen)), undefined, 0);

  expect(found).toEqual({
    isFirst: true,
    retryAfterMs: 10_000,
    failure: {
      reason: "WorksRejected",
      message: "oslo, paris: the hub cannot write the Work: change freeze; these members keep what they have",
    },
  });
});

test("a webhook that does not respond is reported at once, and a Work that is not deleted as such", () => {
  const down = unavailable('Internal error occurred: failed calling webhook "w.example.com": connection refused');

  const found = createUnwrittenWorks().failed("a", failure(write("paris", down, "delete")), undefined, 0);

  expect(found?.failure.message).toBe(
    'paris: the hub cannot delete the Work: Internal error occurred: failed calling webhook "w.example.com": ' +
      "connection refused; these members keep what they have",
  );
});

test("a failure that may be transient is reported when it lasts, and starts over after a success", () => {
  const unwritten = createUnwrittenWorks();
  const error = failure(write("paris", unavailable("etcdserver: request timed out")));

  expect(unwritten.failed("a", error, undefined, 0)).toBeUndefined();
  expect(unwritten.failed("a", error, undefined, 9_999)).toBeUndefined();
  expect(unwritten.failed("a", error, undefined, 10_000)).toMatchObject({ isFirst: true });
  expect(unwritten.failed("a", error, undefined, 20_000)).toMatchObject({ isFirst: false });
  unwritten.forget("a");
  expect(unwritten.failed("a", error, undefined, 30_000)).toBeUndefined();
});

test("copies that cannot be made are reported with the Works that cannot be written", () => {
  const planned = { reason: "RenderFailed", message: "rome: no such path" } as const;

  const found = createUnwrittenWorks().failed("a", failure(write("paris", frozen)), planned, 0);

  expect(found?.failure.message).toBe(
    "paris: the hub cannot write the Work: change freeze; these members keep what they have; rome: no such path",
  );
});

test("many bindings whose Works are rejected are tried again less often, and at least once a minute", () => {
  const unwritten = createUnwrittenWorks();
  for (let index = 0; index < 1_000; index++)
    unwritten.failed(`${index}`, failure(write("paris", frozen)), undefined, 0);

  expect(unwritten.failed("0", failure(write("paris", frozen)), undefined, 1)?.retryAfterMs).toBe(60_000);
});

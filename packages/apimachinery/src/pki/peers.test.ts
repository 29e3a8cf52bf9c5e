/**
 * A thousand certificates and requests, generated and mutated, as OpenSSL and @peculiar/x509 read them.
 * `npm run fuzz -- pki-differential` compares as many as wanted.
 */
import { expect, test } from "vitest";
import { createSeededRandom } from "@flotilla/base";
import { makeInput } from "./test-inputs.ts";
import { differencesTo, openssl, opensslProblem, peculiar, readAll, type Accepted } from "./test-peers.ts";

const SEED = 20_261_116;
const INPUTS = 1_100;

const read = (): Accepted =>
  (accepted ??= readAll(Array.from({ length: INPUTS }, (_, index) => makeInput(createSeededRandom(SEED + index)))));
let accepted: Accepted | undefined;

test("intact certificates and requests are accepted", () => {
  expect(read().problems).toEqual([]);
});

test("what we accept, @peculiar/x509 accepts with the same names, validity and usages", async () => {
  expect(await differencesTo(peculiar, read())).toEqual([]);
});

test("what we accept, OpenSSL accepts with the same names, validity and usages", async ({ skip }) => {
  const problem = await opensslProblem();
  if (problem !== undefined) {
    process.stdout.write(`skipped: ${problem}\n`);
    skip(problem);
  }

  expect(await differencesTo(openssl, read())).toEqual([]);
});

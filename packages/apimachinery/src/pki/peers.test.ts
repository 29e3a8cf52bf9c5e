/**
 * Certificates and requests, generated and mutated, as others read them: a thousand with @peculiar/x509, and a hundred
 * with OpenSSL, which needs a process for each. `npm run fuzz -- pki-differential` compares as many as wanted.
 */
import { expect, test } from "vitest";
import { createSeededRandom } from "@flotilla/base";
import { makeInput } from "./test-inputs.ts";
import { differenceOf, opensslProblem } from "./test-peers.ts";

const SEED = 20_261_116;

async function differences(from: number, count: number, hasOpenssl: boolean): Promise<string[]> {
  const inputs = Array.from({ length: count }, (_, index) => makeInput(createSeededRandom(SEED + from + index)));
  const found = await Promise.all(inputs.map((input) => differenceOf(input, hasOpenssl)));
  return found.filter((difference) => difference !== undefined);
}

test("what we accept, @peculiar/x509 accepts with the same names, validity and usages", async () => {
  expect(await differences(0, 1_000, false)).toEqual([]);
});

test("what we accept, OpenSSL accepts with the same names, validity and usages", async ({ skip }) => {
  const problem = await opensslProblem();
  if (problem !== undefined) {
    process.stdout.write(`skipped: ${problem}\n`);
    skip(problem);
  }

  expect(await differences(1_000, 100, true)).toEqual([]);
});

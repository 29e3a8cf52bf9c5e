/**
 * Certificates and certificate requests, compared with OpenSSL and `@peculiar/x509`: what we accept they accept with the
 * same names, validity and usages. `npm run fuzz -- pki-differential --inputs 1000` compares a thousand.
 */
import { createSeededRandom } from "@flotilla/base";
import { makeInput, type PkiInput } from "../../../packages/apimachinery/src/pki/test-inputs.ts";
import { differenceOf, opensslProblem } from "../../../packages/apimachinery/src/pki/test-peers.ts";
import { defineTarget } from "../target.ts";

let openssl: Promise<boolean> | undefined;

async function findOpenssl(): Promise<boolean> {
  const problem = await opensslProblem();
  if (problem !== undefined) process.stdout.write(`pki-differential compares without OpenSSL: ${problem}\n`);
  return problem === undefined;
}

export const pkiDifferential = defineTarget({
  name: "pki-differential",
  // Each input starts a process.
  share: 0.01,
  generate: (chance): PkiInput => makeInput(createSeededRandom(chance.below(2 ** 31))),
  declares: () => false,
  run: async (input) => differenceOf(input, await (openssl ??= findOpenssl())),
});

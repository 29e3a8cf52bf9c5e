/**
 * Certificates and certificate requests, compared with OpenSSL and `@peculiar/x509`: what we accept they accept with the
 * same names, validity and usages. `npm run fuzz -- pki-differential --inputs 1000` compares a thousand.
 */
import { createSeededRandom } from "@flotilla/base";
import { makeInput, type PkiInput } from "../../../packages/apimachinery/src/pki/test-inputs.ts";
import {
  differencesTo,
  openssl,
  opensslProblem,
  peculiar,
  readAll,
  type Peer,
} from "../../../packages/apimachinery/src/pki/test-peers.ts";
import { defineTarget } from "../target.ts";

let peers: Promise<Peer[]> | undefined;

async function findPeers(): Promise<Peer[]> {
  const problem = await opensslProblem();
  if (problem === undefined) return [peculiar, openssl];
  process.stdout.write(`pki-differential compares without OpenSSL: ${problem}\n`);
  return [peculiar];
}

export const pkiDifferential = defineTarget({
  name: "pki-differential",
  // Each input starts processes.
  share: 0.01,
  generate: (chance): PkiInput => makeInput(createSeededRandom(chance.below(2 ** 31))),
  declares: () => false,
  async run(input) {
    const accepted = readAll([input]);
    const differences = [...accepted.problems];
    for (const peer of await (peers ??= findPeers())) differences.push(...(await differencesTo(peer, accepted)));
    return differences[0];
  },
});

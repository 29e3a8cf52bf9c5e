/** Runs `flotilla lint`: reads the files, queries a hub, and applies the rules. */
import { Cluster } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import { didYouMean, UsageError, defined } from "@flotilla/base";
import { eachObject } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import type { Source } from "../interpret/sources.ts";
import { askHub } from "./hub-answers.ts";
import type { HubAnswers } from "./hub-answers.ts";
import { readSelections } from "./hub-selections.ts";
import { readLintManifests } from "./lint-manifest.ts";
import { lintManifests } from "./run-lint.ts";
import type { LintResult } from "./run-lint.ts";
import type { LintRule } from "./rule.ts";
import { RULES } from "./rules/index.ts";

/** The hub to use: an in-process one, or a real one. */
interface AskedHub {
  client: Client;
  isReal: boolean;
}

interface LintInput {
  sources: readonly Source[];
  rules: readonly LintRule[];
  strict: boolean;
  /** For manifests without a namespace. */
  namespace: string;
}

export async function lintSources(
  { sources, rules, strict, namespace }: LintInput,
  { client, isReal }: AskedHub,
  signal: AbortSignal,
): Promise<LintResult> {
  const read = readLintManifests(sources);
  const said = await askHub(client, read.manifests, { isReal, namespace }, signal);
  const answers: HubAnswers = {
    of: (manifest) => said.get(manifest),
    isReal,
    ...defined({
      members: isReal ? await readMembers(client, signal) : undefined,
      selections: isReal ? await readSelections(client, read.manifests, signal) : undefined,
    }),
  };
  return lintManifests(read, { rules, answers, strict });
}

async function readMembers(
  client: Client,
  signal: AbortSignal,
): Promise<{ name: string; labels: Readonly<Record<string, string>> }[]> {
  const members: { name: string; labels: Readonly<Record<string, string>> }[] = [];
  for await (const { metadata } of eachObject(client, Cluster, { cluster: HUB, signal }))
    members.push({ name: metadata.name, labels: metadata.labels ?? {} });
  return members;
}

/**
 * The rules to run: those of `--rule`, or all, without those of `--ignore`. Throws `UsageError` for an unknown rule.
 */
export function chooseRules(only: readonly string[], without: readonly string[]): readonly LintRule[] {
  const [wanted, unwanted] = [idsIn(only), idsIn(without)];
  return RULES.filter(({ id }) => (wanted.length === 0 || wanted.includes(id)) && !unwanted.includes(id));
}

function idsIn(given: readonly string[]): string[] {
  const ids = given
    .flatMap((text) => text.split(","))
    .map((id) => id.trim())
    .filter((id) => id !== "");
  const unknown = ids.find((id) => !RULES.some((rule) => rule.id === id));
  if (unknown === undefined) return ids;
  throw new UsageError(
    `unknown lint rule '${unknown}'${didYouMean(
      unknown,
      RULES.map(({ id }) => id),
    )}; run 'flotilla lint --list' to list the rules`,
  );
}

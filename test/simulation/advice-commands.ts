/**
 * Commands that `status`, `why` and `doctor` print as advice, checked against the fleet that they are about: a command of
 * Flotilla is parsed, and run if it only reads; one of kubectl names types and objects that the hub has.
 */
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { createKindResolver, find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { commands, parseCommandLine } from "@flotilla/cli";
import { typesOfHub } from "../../packages/cli/src/members/types-of-hub.ts";
import { findType, kindOf } from "../../packages/cli/src/members/served-types.ts";
import type { HealthFleet } from "./health-fleet.ts";

/** In quotes, as texts name commands. */
export const quotedCommands = (text: string): string[] =>
  Array.from(text.matchAll(/['`]((?:flotilla|kubectl) [^'`]+)['`]/g), ([, command = ""]) => command);

/** Names in capitals stand for what the user has to fill in. */
const isPlaceholder = (word: string): boolean => /^(?:[a-z.]+\/|[A-Z]+\/)?[A-Z]+(?:\.yaml)?$/.test(word);
/** Commands that change nothing, and need no file. */
const READING = new Set(["why", "describe", "get", "status", "doctor", "top"]);
/** The verbs and flags of kubectl that advice uses. */
const KUBECTL: Readonly<Record<string, RegExp>> = {
  get: /^(-o=?\w*|-A)$/,
  describe: /^$/,
  edit: /^$/,
  delete: /^--raw$/,
  // Without a type.
  "api-resources": /^(--verbs=list|--namespaced|-o=name)$/,
};

/** Why the advice does not work; undefined if it does. */
export async function whyWrong(advice: string, health: HealthFleet): Promise<string | undefined> {
  // What is piped into another command, and what is passed to it.
  const [, applied] = /^echo '(.*)' \| kubectl apply -f -$/.exec(advice) ?? [];
  if (applied !== undefined) return applyProblem(applied, health.fleet.client);
  for (const command of advice.split(" | ")) {
    const [program, ...words] = command.split(/\s+/);
    const wrong =
      program === "flotilla"
        ? await flotillaProblem(words, health)
        : program === "kubectl"
          ? await kubectlProblem(words, health.fleet.client)
          : undefined;
    if (wrong !== undefined) return `${advice}: ${wrong}`;
  }
  return undefined;
}

/** A dry run: the next commands are about the fleet as it is. */
async function applyProblem(text: string, client: Client): Promise<string | undefined> {
  try {
    const object = JSON.parse(text) as KubernetesObject & JsonObject;
    const kind = await createKindResolver({ client, cluster: "hub" }).resolve(object);
    await client.create(kind, "hub", object, { dryRun: true });
    return undefined;
  } catch (error) {
    return `${text}: ${String(error)}`;
  }
}

async function flotillaProblem([name = "", ...argv]: string[], { run }: HealthFleet): Promise<string | undefined> {
  // The name of a command, as in "see 'flotilla interpret'".
  const command = await commands.find((entry) => entry.name === name)?.load();
  if (!command) return "there is no such command";
  if (argv.length === 0) return undefined;
  try {
    parseCommandLine(command, argv);
    if (READING.has(name) && !argv.some(isPlaceholder)) await run(name, ...argv);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

async function kubectlProblem(words: string[], client: Client): Promise<string | undefined> {
  const plain: string[] = [];
  const flags: string[] = [];
  let namespace: string | undefined;
  let cluster = "hub";
  let raw: string | undefined;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "-n") namespace = words[++index];
    else if (word === "--kubeconfig") cluster = (words[++index] ?? "").replace(/\.kubeconfig$/, "");
    else if (word === "--raw") raw = words[++index];
    else if (word === "-o") flags.push(`-o=${words[++index] ?? ""}`);
    else if (word.startsWith("-")) flags.push(word);
    else plain.push(word);
  }
  const [verb = "", type = "", name] = plain.flatMap((word, index) => (index === 1 ? word.split("/") : word));
  const allowed = KUBECTL[verb];
  if (!allowed) return `the verb ${verb} is not known here`;
  const unknown = flags.find((flag) => !allowed.test(flag));
  if (unknown !== undefined) return `the flag ${unknown} is not known here`;
  if (raw !== undefined) {
    const path = { method: "GET", path: raw, cluster: "hub", headers: { accept: "application/json" } };
    const { status } = await client.raw(path, new AbortController().signal);
    return status === 200 ? undefined : `${raw} is answered with ${status}`;
  }
  if (verb === "api-resources") return undefined;
  const types = await typesOfHub(client, new AbortController().signal);
  const served = findType(types, type);
  if (!served) return `the hub does not serve ${type}`;
  if (name === undefined || isPlaceholder(name)) return undefined;
  const kind = kindOf(served);
  const key = { cluster, namespace: kind.scope === "Namespaced" ? namespace : undefined, name };
  return (await find(client, kind, key))
    ? undefined
    : `${cluster} has no ${type} ${name} in ${namespace ?? "no namespace"}`;
}

/**
 * Stock karmadactl against the shipped command has the same results as against a real Karmada 1.18. The steps are in
 * `karmadactl-steps.ts`, Karmada's answers in `testdata/karmadactl/karmada.json` (written by `karmadactl-record.ts`),
 * and Flotilla's intended differences are listed here. The requests of these commands are checked without the binary in
 * `test/contract`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realBinaries } from "../programs/kube.ts";
import { temporaryDirectory, up } from "../programs/flotilla-process.ts";
import type { Up } from "../programs/flotilla-process.ts";
import { runStep, titleOf } from "./karmadactl-run.ts";
import type { Answer, Fleet } from "./karmadactl-run.ts";
import { CHAPTERS } from "./karmadactl-steps.ts";

/** A chapter takes a few seconds, but many more on a busy machine. */
const LIMIT_MS = 240_000;

const binaries = process.env["REAL_BIN"] === undefined ? undefined : realBinaries();
const karmadactl = binaries === undefined ? undefined : join(binaries, "karmadactl");
const isThere = karmadactl !== undefined && existsSync(karmadactl);
if (!isThere) process.stdout.write("skipped: karmadactl: $REAL_BIN is not set, or has no karmadactl\n");

type Recorded = Answer & { command: string };

const without = (text: string, ...starts: string[]): string =>
  text
    .split("\n")
    .filter((line) => !starts.some((start) => line.startsWith(start)))
    .join("\n");
/** 503 instead of 500: the hub is healthy, and the member does not answer. */
const isAway = (answer: Recorded): Recorded => ({
  ...answer,
  stderr: answer.stderr
    .replaceAll(
      /an error on the server \(\\?"unknown\\?"\) has prevented the request from succeeding/g,
      "the server is currently unable to handle the request",
    )
    .replaceAll("(InternalError)", "(ServiceUnavailable)"),
});

/** Intended differences of Flotilla; each is in docs/compatibility.md. */
const DIFFERENCES: Readonly<Record<string, (answer: Recorded) => Recorded>> = {
  // A kind is only served if its controller exists.
  "karmadactl api-resources --api-group policy.karmada.io": (answer) => ({
    ...answer,
    stdout: without(answer.stdout, "federatedresourcequotas"),
  }),
  "karmadactl api-versions": (answer) => ({
    ...answer,
    stdout: without(answer.stdout, "autoscaling.karmada.io", "networking.karmada.io", "remedy.karmada.io"),
  }),
  // A script that does not compile is an invalid field, and the error shows the line.
  "karmadactl apply -f {broken-customization.yaml}": (answer) => ({
    ...answer,
    stderr:
      `The ResourceInterpreterCustomization "broken" is invalid: spec.customizations.replicaResource.luaScript: ` +
      "Invalid value: InterpreterOperation(InterpretReplica) Lua script error: <string> line:3(column:3) near " +
      `'end':  syntax error; the line is "end"\n`,
  }),
  // A member with missing credentials is not a missing resource.
  "karmadactl get pods -n shop --operation-scope members -C lost": (answer) => ({
    ...answer,
    stderr: answer.stderr.replace(
      "the server could not find the requested resource",
      'an error on the server ("unknown") has prevented the request from succeeding',
    ),
  }),
  "karmadactl get pods -n shop --operation-scope members -C dead": isAway,
  "karmadactl get pods -n shop --operation-scope members -C member1,dead -l app=box": isAway,
  "karmadactl logs box -n shop -C dead": isAway,
  "karmadactl exec box -n shop --operation-scope members --cluster dead -- hostname": isAway,
  "karmadactl top pods -n shop -C dead": isAway,
  "karmadactl promote deployment legacy -n shop -C dead": isAway,
  // A taint that moves nothing is said to.
  "karmadactl taint clusters member1 bar:NoExecute": (answer) => ({
    ...answer,
    stderr:
      `<warnings.go> "Warning: spec.taints[0]: NoExecute moves only workloads whose policy has failover.cluster; ` +
      `'flotilla drain member1' moves most others, too"\n`,
  }),
};

/** Lines that only Flotilla prints, by their beginnings; each must be printed. */
const ADDITIONS: Readonly<Record<string, readonly string[]>> = {
  // The hub lists Karmada's own programs, whose work it does.
  "karmadactl get deployments -A": ["karmada-system"],
  // The member of the recording served neither.
  "karmadactl api-resources --operation-scope members --cluster member1 -o wide": [
    "advancedcronjobs",
    "mutatingadmission",
    "mutatingwebhook",
    "validatingadmission",
    "validatingwebhook",
  ],
};

function withoutAdditions(answer: Recorded): Recorded {
  const starts = ADDITIONS[answer.command];
  if (!starts) return answer;
  for (const start of starts) expect(answer.stdout).toContain(`\n${start}`);
  return { ...answer, stdout: without(answer.stdout, ...starts) };
}

describe.skipIf(!isThere)("stock karmadactl", { timeout: LIMIT_MS }, () => {
  const recorded = JSON.parse(
    readFileSync(new URL("./testdata/karmadactl/karmada.json", import.meta.url), "utf8"),
  ) as Record<string, Recorded[]>;
  const [hubData, otherData, home] = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()];
  let hub: Up;
  let other: Up;
  let fleet: Fleet;

  beforeAll(async () => {
    [hub, other] = await Promise.all([
      up(hubData.path, "--members", "2", "--ephemeral"),
      up(otherData.path, "--members", "1", "--ephemeral"),
    ]);
    fleet = {
      karmadactl: karmadactl ?? "",
      home: home.path,
      kubeconfigs: {
        hub: hub.kubeconfig("hub"),
        member1: hub.kubeconfig("member1"),
        joining: other.kubeconfig("member1"),
      },
    };
  }, LIMIT_MS);
  afterAll(async () => {
    await Promise.all([hub, other].map((running) => running?.stop("SIGTERM")));
    for (const { remove } of [hubData, otherData, home]) remove();
  }, LIMIT_MS);

  // Later chapters depend on earlier ones.
  for (const { name, steps } of CHAPTERS) {
    test(`gives the same answers as with Karmada: ${name}`, async () => {
      const answers: Recorded[] = [];
      for (const step of steps)
        answers.push(withoutAdditions({ command: titleOf(step), ...(await runStep(fleet, step)) }));

      const wanted = (recorded[name] ?? []).map((answer) => DIFFERENCES[answer.command]?.(answer) ?? answer);
      expect(answers).toEqual(wanted);
    });
  }
});

/**
 * The original guides, 000 and 001 in `test/seeds/guide`, typed block by block in the order of the text with the real
 * kubectl. `guide-karmada.ts` and `guide-ocm.ts` have an entry for every block: its effect, or the reason why it, or one
 * of its commands, is not run.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ManifestWork, OcmPlacement } from "@flotilla/ocm";
import { AdvancedStatefulSet, CloneSet, SidecarSet } from "@flotilla/openkruise";
import { PropagationPolicy, ResourceInterpreterCustomization } from "@flotilla/karmada";
import type { Kind } from "@flotilla/apimachinery";
import { noCommands } from "../programs/command-line.ts";
import { guideBlocks, readGuide } from "../seeds/guide-blocks.ts";
import type { GuideBlock } from "../seeds/guide-blocks.ts";
import type { GuideEntry, GuideTable } from "./guide-entry.ts";
import { karmadactl, startGuideFleet } from "./guide-fleet.ts";
import type { GuideCluster, GuideFleet } from "./guide-fleet.ts";
import { introduction, karmada } from "./guide-karmada.ts";
import { ocm } from "./guide-ocm.ts";

const LIMIT_MS = 90_000;
const NO_KARMADACTL = "$REAL_BIN is not set, or has no karmadactl";
/** Recommended by the text, and not served yet. */
const NOT_SERVED = { text: "Consider using ClusterManagementAddons in OCM", resource: "clustermanagementaddons" };
/** With the cluster's name, the file of a cluster's kubeconfig. */
const PLACEHOLDERS: Readonly<Record<string, string | { kubeconfig: GuideCluster }>> = {
  "<MEMBER_CLUSTER_KUBECONFIG>": { kubeconfig: "member1" },
  "<POD_NAME>": "sample-advancedstatefulset-0",
  "<policy-name>": "sample-cloneset-propagation",
  "<MANAGED_CLUSTER_NAME>": "cluster1",
  "<MANAGED_CLUSTER_KUBECONFIG>": { kubeconfig: "cluster1" },
};
const blocks = { "000": guideBlocks("000"), "001": guideBlocks("001") };

test("every block has an entry with its effect or the reason why it is not run, and has not changed", () => {
  const table = { ...introduction, ...karmada, ...ocm };

  expect([...blocks["000"], ...blocks["001"]].map(({ name, hash }) => [name, hash])).toEqual(
    Object.entries(table).map(([name, { hash }]) => [name, hash]),
  );
  expect(
    Object.entries(table)
      .filter(([, { notRun, file, prints, effect }]) => !notRun && !file && !prints && !effect)
      .map(([name]) => name),
  ).toEqual([]);
});

/** The commands of a block with the lines that belong to each; comments and empty lines are dropped. */
function commandsOf(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

function fill(text: string, fleet: GuideFleet): string {
  return Object.entries(PLACEHOLDERS).reduce(
    (filled, [placeholder, value]) =>
      filled.replaceAll(placeholder, typeof value === "string" ? value : fleet.kubeconfig(value.kubeconfig)),
    text,
  );
}

interface Kept {
  commands: string[];
  left: { command: string; reason: string }[];
}

/** Separates the commands that are typed from those that are left out. */
function select(text: string, { without = {} }: GuideEntry): Kept {
  const reasonOf = (command: string): string | undefined =>
    Object.entries(without).find(([start]) => command.startsWith(start))?.[1] ??
    (command.startsWith("karmadactl") && karmadactl === undefined ? NO_KARMADACTL : undefined);
  const all = commandsOf(text).map((command) => ({ command, reason: reasonOf(command) }));
  return {
    commands: all.filter(({ reason }) => reason === undefined).map(({ command }) => command),
    left: all.flatMap(({ command, reason }) => (reason === undefined ? [] : [{ command, reason }])),
  };
}

if (noCommands !== undefined) process.stdout.write(`skipped: the original guides: ${noCommands}\n`);

describe.runIf(noCommands === undefined)("the original guides", { timeout: LIMIT_MS }, () => {
  let fleet: GuideFleet;
  beforeAll(async () => void (fleet = await startGuideFleet()), LIMIT_MS);
  afterAll(async () => expect(await fleet?.stop()).toBe(0), LIMIT_MS);

  /** The files of the manifests that were applied, by block. */
  const files = new Map<string, string>();

  /** Returns what the block printed; undefined if no command of it can run here. */
  async function type({ name, language, text }: GuideBlock, entry: GuideEntry): Promise<string | undefined> {
    const filled = fill(text, fleet);
    if (language === "yaml") {
      const file = entry.file ?? `${name.replaceAll(/\W+/g, "-").toLowerCase()}.yaml`;
      fleet.save(file, filled);
      files.set(name, file);
      return entry.file === undefined ? fleet.type(`kubectl apply -f ${file}`, entry.on) : "";
    }
    const { commands, left } = select(filled, entry);
    for (const { command, reason } of left) process.stdout.write(`not run: ${name}: ${command}: ${reason}\n`);
    expect(commands.join("\n")).not.toMatch(/<[A-Za-z_-]+>/);
    const onOf = (command: string): GuideCluster | undefined =>
      Object.entries(entry.lineOn ?? {}).find(([start]) => command.startsWith(start))?.[1];
    const lines = commands.map((command) => {
      const on = onOf(command);
      return on === undefined ? command : `KUBECONFIG=${fleet.kubeconfig(on)} ${command}`;
    });
    return lines.length === 0 ? undefined : fleet.type(lines.join("\n"), entry.on);
  }

  function walk(guide: readonly GuideBlock[], table: GuideTable): void {
    for (const block of guide) {
      const entry = table[block.name];
      if (entry === undefined) continue; // It belongs to another part of the text, or has no entry, which fails above.
      if (entry.notRun !== undefined) {
        process.stdout.write(`not run: ${block.name}: ${entry.notRun}\n`);
        continue;
      }
      test(block.name, async ({ skip }) => {
        await entry.given?.(fleet);

        const printed = await type(block, entry);
        if (printed === undefined) skip(NO_KARMADACTL);

        for (const pattern of entry.prints ?? []) expect(printed).toMatch(pattern);
        await entry.effect?.(fleet);
      });
    }
  }

  walk(blocks["000"], introduction);

  test("000: its objects are deleted with its files, and leave the members", async () => {
    await fleet.type(
      `kubectl delete ${[...files.values()]
        .slice(0, -1)
        .map((file) => `-f ${file}`)
        .join(" ")}`,
    );
    await fleet.type("kubectl delete cloneset/example asts/example-ordered propagationpolicy/ordered");

    for (const member of ["member1", "member2"] as const) {
      await fleet.isGone(member, CloneSet, "example");
      await fleet.isGone(member, AdvancedStatefulSet, "example-ordered");
    }
    await fleet.isGone("cluster1", CloneSet, "example-cloneset");
    expect((await fleet.client.list(ManifestWork, { cluster: "hub" })).items).toEqual([]);
    files.clear();
  });

  test("000: ClusterManagementAddon, which the text only names, is not served", async () => {
    expect(readGuide("000")).toContain(NOT_SERVED.text);
    expect(await fleet.type("kubectl api-resources -o name")).not.toContain(NOT_SERVED.resource);
  });

  walk(blocks["001"], karmada);

  test("Open Cluster Management's half starts in a terminal with the contexts of kind", async () => {
    await fleet.openTerminal();

    expect(await fleet.type("kubectl config get-contexts -o name")).toMatch(/kind-cluster1\nkind-cluster2\nkind-hub\n/);
  });

  walk(blocks["001"], ocm);

  test("001: every manifest applies again without a change of its spec", async () => {
    // As with OpenKruise's webhook, empty fields that it once defaulted in a UnitedDeployment are removed when a file
    // without them is applied.
    const again = [...files].filter(([name]) => !/^001 (Deploying )?UnitedDeployment \d/.test(name));
    const apply = (): Promise<string> => fleet.type(`kubectl apply ${again.map(([, file]) => `-f ${file}`).join(" ")}`);
    const kinds: readonly Kind[] = [
      CloneSet,
      AdvancedStatefulSet,
      SidecarSet,
      PropagationPolicy,
      ResourceInterpreterCustomization,
      ManifestWork,
      OcmPlacement,
    ];
    const generations = async (): Promise<string[]> =>
      (
        await Promise.all(
          kinds.map(async (kind) =>
            (await fleet.client.list(kind, { cluster: "hub" })).items.map(
              ({ metadata }) => `${kind.kind} ${metadata.name} ${metadata.generation}`,
            ),
          ),
        )
      ).flat();
    await apply(); // Creates the deleted work again, and corrects the rule that was broken.
    const before = await generations();

    await apply();

    expect(again.length).toBeGreaterThan(20);
    expect(await generations()).toEqual(before);
  });
});

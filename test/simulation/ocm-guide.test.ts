/** The guide for users of Open Cluster Management: every object in it applies, and `flotilla why` prints what the guide shows. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { ManagedCluster, Namespace } from "../../src/api/index.ts";
import { commands, createOutput, parseCommandLine } from "../../src/cli/index.ts";
import type { CommandContext } from "../../src/cli/index.ts";
import { parseYamlDocuments } from "../../src/machinery/index.ts";
import { walkThrough, type WalkThrough } from "../seeds/walk-through.ts";

const guide = readFileSync(new URL("../../docs/ocm.md", import.meta.url), "utf8");
const applied = [...guide.matchAll(/<<'YAML'\n(.*?)^YAML$/gms)].map(([, text = ""]) => parseYamlDocuments(text) as object[]);
const printed = [...guide.matchAll(/^```text\n(.*?)^```$/gms)].map(([, text = ""]) => text);

let story: WalkThrough;
let placement = "";
const warnings: string[] = [];

beforeAll(async () => {
  story = await walkThrough();
  const { client } = story.fleet;
  await story.settle();
  await client.create(Namespace, "hub", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await client.patch(ManagedCluster, { cluster: "hub", name: "member1" }, { metadata: { labels: { env: "prod" } } }, { type: "merge" });
  const [work = [], choice = [], rollout = []] = applied;
  for (const object of [...work, ...choice]) warnings.push(...(await story.applyObject(object)));
  await story.settle();
  // Clusters that other Placements have score less.
  placement = await run("why", "placement/prod", "-n", "shop");
  for (const object of rollout) warnings.push(...(await story.applyObject(object)));
  // A rollout soaks for thirty seconds between clusters.
  await story.fleet.run(20_000);
  return () => story.fleet.stop();
});

async function run(name: string, ...argv: string[]): Promise<string> {
  const command = await commands.find((entry) => entry.name === name)?.load();
  if (!command) throw new Error(`there is no command ${name}`);
  const { args, flags, format } = parseCommandLine(command, [...argv, "--kubeconfig", "hub.kubeconfig"]);
  let text = "";
  const output = createOutput({ format, write: (part) => (text += part), warn: (part) => (text += part), showProgress: () => {} });
  const { client, clock } = story.fleet;
  const context = { args, flags, output, signal: new AbortController().signal, clock, connect: () => Promise.resolve({ client, server: "https://hub.example.com", close: () => Promise.resolve() }), environment: {} };
  await command.run(context as unknown as CommandContext<never>);
  return text;
}
/** Times differ from day to day, and columns are as wide as what is in them. */
const plain = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, "TIME").replaceAll(/ +/g, " ");

test("its objects are canonical: nothing is warned of", () => {
  expect(applied).toHaveLength(3);
  expect(warnings).toEqual([]);
});

test("a ManifestWork is explained as it shows", async () => {
  expect(await run("why", "manifestwork/web", "-n", "member1")).toBe(printed[0]);
});

test("a Placement is explained as it shows", () => {
  expect(placement).toBe(printed[1]);
});

test("a rollout is explained as it shows", async () => {
  expect(plain(await run("why", "mwrs/cart", "-n", "shop"))).toContain(plain(printed[2] ?? ""));
});

test("the status has both faces of each member", async () => {
  const text = await run("status");

  expect(text).toMatch(/member1 +push +Ready +Available/);
  expect(text).toContain("2 ManifestWorks, 2 Placements, 1 ManifestWorkReplicaSet\n\nEverything is well.");
});

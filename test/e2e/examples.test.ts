/**
 * Runs every example as its README describes it, with the shipped command and the real kubectl. Examples with the same
 * members share a fleet and run one after the other; after each one's cleanup, the hub and the members contain the same
 * objects as before.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AppliedManifestWork, ManagedClusterSet, ManifestWork } from "@flotilla/ocm";
import { CloneSet, kruiseKinds } from "@flotilla/openkruise";
import {
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  ResourceBinding,
  ResourceInterpreterCustomization,
  Work,
} from "@flotilla/karmada";
import {
  ConfigMap,
  ControllerRevision,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Secret,
  Service,
} from "@flotilla/kubernetes";
import { Workflow } from "@flotilla/argo";
import type { Kind } from "@flotilla/apimachinery";
import { connectionOf, createClient, createHttp2Transport, loadKubeconfig } from "@flotilla/client";
import type { Client, Transport } from "@flotilla/client";
import { isNotFound } from "@flotilla/apimachinery";
import { noCommands } from "../programs/command-line.ts";
import { listPages, readersPrograms, readPage } from "../docs/pages.ts";
import { createReader, hasOwnFleet, readMarkdown } from "../docs/run-page.ts";
import type { PageReader } from "../docs/run-page.ts";
import { CHECKOUT } from "../docs/workspace.ts";
import { eventually } from "../programs/eventually.ts";
import { flotilla } from "../programs/flotilla-process.ts";

const LIMIT_MS = 120_000;
/** The kinds that examples create on members; other kinds follow from these. */
const ON_MEMBERS: readonly Kind[] = [
  Namespace,
  CustomResourceDefinition,
  ...kruiseKinds,
  Workflow,
  Deployment,
  Service,
  ConfigMap,
  Secret,
  Pod,
  PersistentVolumeClaim,
  PersistentVolume,
  ControllerRevision,
  AppliedManifestWork,
];
const ON_HUB: readonly Kind[] = [
  Namespace,
  CustomResourceDefinition,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  ResourceBinding,
  Work,
  ManifestWork,
  ManagedClusterSet,
  ResourceInterpreterCustomization,
  CloneSet,
];

/**
 * Deleting a policy removes nothing from members: OpenKruise's CRDs stay, and with them its components on simulated
 * members.
 */
const STAYS: Readonly<Record<string, RegExp>> = { "examples/crds-first/README.md": /kruise\.io|kruise-system/ };

if (noCommands !== undefined) process.stdout.write(`skipped: the examples: ${noCommands}\n`);

/** The example that starts its own servers runs as a documentation page. */
const pages = listPages("examples/*/README.md").flatMap((name) => {
  const page = readMarkdown(name, readPage(name));
  return hasOwnFleet(page) || page.fleet === undefined ? [] : [{ name, page, flags: page.fleet.join(" ") }];
});

test("every example directory has a README and is in the list of examples", () => {
  const folders = [...new Set(listPages("examples/*/*").map((file) => file.split("/")[1] ?? ""))];
  const list = readPage("examples/README.md");

  expect(listPages("examples/*/README.md")).toEqual(folders.map((folder) => `examples/${folder}/README.md`));
  expect(folders.filter((folder) => !list.includes(`](${folder}/README.md)`))).toEqual([]);
});

test("flotilla lint finds nothing in the examples", async () => {
  expect(await flotilla("lint", "-f", join(CHECKOUT, "examples"), "--recursive", "--strict")).toMatchObject({
    code: 0,
    stderr: "",
  });
});

for (const flags of new Set(pages.map((page) => page.flags))) {
  describe.skipIf(noCommands !== undefined)(`on flotilla up ${flags}`, { timeout: LIMIT_MS }, () => {
    let reader: PageReader;
    let transport: Transport;
    let client: Client;

    beforeAll(async () => {
      reader = createReader({ programs: readersPrograms() });
      await reader.startFleet(flags.split(" "));
      transport = createHttp2Transport({
        ...(await connectionOf(await loadKubeconfig(join(reader.home, ".flotilla", "hub.kubeconfig")))),
        cluster: { root: "hub" },
      });
      client = createClient({ transport, fieldManager: "test" });
    }, LIMIT_MS);
    afterAll(async () => {
      await transport?.close();
      await reader?.leave();
    }, LIMIT_MS);

    /** All objects that examples might leave behind, by cluster, kind and name. */
    async function inventory(): Promise<string[]> {
      const members = Array.from(
        { length: Number(/--members (\d+)/.exec(flags)?.[1] ?? 0) },
        (_, index) => `member${index + 1}`,
      );
      const places = [
        ...ON_HUB.map((kind) => ["hub", kind] as const),
        ...members.flatMap((member) => ON_MEMBERS.map((kind) => [member, kind] as const)),
      ];
      const found = await Promise.all(
        places.map(async ([cluster, kind]) =>
          (await listIfServed(kind, cluster)).map((name) => `${cluster} ${kind.kind} ${name}`),
        ),
      );
      return found.flat().toSorted();
    }

    async function listIfServed(kind: Kind, cluster: string): Promise<string[]> {
      try {
        return (await client.list(kind, { cluster })).items.map(({ metadata }) =>
          metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`,
        );
      } catch (error) {
        if (isNotFound(error)) return []; // A member without OpenKruise serves none of its kinds.
        throw error;
      }
    }

    for (const { name, page } of pages.filter((each) => each.flags === flags)) {
      test(name, async () => {
        const before = await inventory();

        await reader.follow(name, page);

        const left = await eventually(
          "nothing is left",
          async () => difference(before, await inventory()).filter((line) => !STAYS[name]?.test(line)),
          (lines) => lines.length === 0,
        );
        expect(left).toEqual([]);
      });
    }
  });
}

function difference(before: readonly string[], after: readonly string[]): string[] {
  const [was, is] = [new Set(before), new Set(after)];
  return [
    ...after.filter((line) => !was.has(line)).map((line) => `left: ${line}`),
    ...before.filter((line) => !is.has(line)).map((line) => `gone: ${line}`),
  ];
}

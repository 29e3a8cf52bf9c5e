/**
 * docs/reference/kinds.md: every kind that the hub and its members serve; and a page with columns and fields for each
 * project other than Kubernetes.
 */
import type { Kind } from "@flotilla/apimachinery";
import { createProfiles } from "@flotilla/server";
import { fieldsOf } from "./fields.ts";
import { code, generatedNote, page, table } from "./markdown.ts";

interface Project {
  title: string;
  file: string;
  foreword: string;
  owns(group: string): boolean;
}

/** In the order in which users encounter them; the first project that owns a group gets it. */
const projects: readonly Project[] = [
  {
    title: "Karmada's kinds",
    file: "karmada.md",
    foreword:
      "Karmada's policies, bindings, works and members. [propagation.md](../../propagation.md) describes their " +
      "use, [compatibility.md](../../compatibility.md#karmada) the differences.",
    owns: (group) => group.endsWith(".karmada.io"),
  },
  {
    title: "Open Cluster Management's kinds",
    file: "ocm.md",
    foreword: "Open Cluster Management's clusters, placements and works. [ocm.md](../../ocm.md) describes their use.",
    owns: (group) => group.endsWith(".open-cluster-management.io"),
  },
  {
    title: "OpenKruise's kinds",
    file: "openkruise.md",
    foreword:
      "OpenKruise's workloads. The hub stores their templates and members run them. Both versions are served, " +
      "and converted into each other; fields are those of the storage version. " +
      "[interpreter.md](../../interpreter.md#what-is-divided-over-the-members) describes what is divided over " +
      "the members.",
    owns: (group) => group.endsWith(".kruise.io"),
  },
  {
    title: "Argo's kinds",
    file: "argo.md",
    foreword: "Simulated members run a small part of Argo Workflows.",
    owns: (group) => group === "argoproj.io",
  },
  {
    title: "Flotilla's own kinds",
    file: "flotilla.md",
    foreword: "Kinds that no other project has.",
    owns: (group) => group.endsWith("flotilla.dev"),
  },
];

interface Served {
  kind: Kind;
  on: ("hub" | "members")[];
}

/** The served kinds per cluster, as the program itself assembles them. */
export function servedKinds(): Served[] {
  const never = (): never => {
    throw new Error("not called while pages are written");
  };
  const nothing = async (): Promise<never> => never();
  const none = { get: () => undefined, list: () => [] };
  const { hub, member } = createProfiles({
    rootCertificate: "",
    startedOn: "",
    clusterKubeconfig: never,
    clusterProxy: nothing,
    explanation: nothing,
    decisions: none,
    metrics: () => ({ nodes: none, pods: none }),
  });
  const served = new Map<string, Served>();
  for (const [place, profile] of [
    ["hub", hub],
    ["members", member],
  ] as const) {
    for (const kind of [...profile.builtIns, ...profile.customs]) {
      const key = `${kind.group}/${kind.kind}`;
      const known = served.get(key);
      if (known) known.on.push(place);
      else served.set(key, { kind, on: [place] });
    }
  }
  return [...served.values()].toSorted(
    (a, b) => compare(a.kind.group, b.kind.group) || compare(a.kind.kind, b.kind.kind),
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const projectOf = (kind: Kind): Project | undefined => projects.find(({ owns }) => owns(kind.group));

export const kindPages = [
  { file: "docs/reference/kinds.md", render: renderKinds },
  ...projects.map((project) => ({
    file: `docs/reference/kinds/${project.file}`,
    render: () => renderProject(project),
  })),
];

function renderKinds(): string {
  const all = servedKinds();
  const rows = (kinds: readonly Served[], link: (kind: Kind) => string): string =>
    table(
      ["kind", "versions", "short names", "scope", "on", "besides the usual verbs"],
      kinds.map(({ kind, on }) => [
        link(kind),
        versionsOf(kind),
        (kind.shortNames ?? []).map(code).join(", "),
        kind.scope === "Cluster" ? "cluster" : "namespace",
        on.length === 2 ? "both" : (on[0] ?? ""),
        extrasOf(kind),
      ]),
    );
  return page(
    "# Kinds",
    generatedNote(
      "the kinds in `packages/apimachinery/src/kind` as `packages/server/src/roles/profiles.ts` serves them",
    ),
    `The hub serves ${all.filter(({ on }) => on.includes("hub")).length} kinds and simulated members ` +
      `${all.filter(({ on }) => on.includes("members")).length}. A kind is served if its controller is ` +
      "implemented; [compatibility.md](../compatibility.md) lists what is missing. The usual verbs are create, " +
      `get, list, watch, update, patch, delete and deletecollection. The version that \`kubectl\` prefers comes ` +
      "first.",
    ...projects.map((project) => {
      const own = all.filter(({ kind }) => projectOf(kind) === project);
      return `## ${project.title}\n\n${rows(own, ({ kind }) => `[${kind}](kinds/${project.file}#${kind.toLowerCase()})`)}`;
    }),
    `## Kubernetes' kinds\n\n${rows(
      all.filter(({ kind }) => !projectOf(kind)),
      ({ group, kind }) => `${kind}${group === "" ? "" : ` (${group})`}`,
    )}`,
  );
}

function renderProject(project: Project): string {
  const own = servedKinds().filter(({ kind }) => projectOf(kind) === project);
  return page(
    `# ${project.title}`,
    generatedNote("the kinds in `packages/apimachinery/src/kind`"),
    project.foreword,
    ...own.map(renderKind),
  );
}

function renderKind({ kind, on }: Served): string {
  const version = kind.versions[kind.storageVersion];
  const columns = version?.columns ?? [];
  const fields = version ? fieldsOf(version.schema) : [];
  const facts: [string, string][] = [
    ["group", code(kind.group)],
    ["versions", versionsOf(kind)],
    ["names", [kind.plural, ...(kind.shortNames ?? [])].map(code).join(", ")],
    ["scope", kind.scope === "Cluster" ? "the cluster" : "a namespace"],
    ["served on", on.join(" and ")],
  ];
  const extras = extrasOf(kind);
  if (extras !== "") facts.push(["verbs and subresources", extras]);
  if (columns.length > 0)
    facts.push([
      "columns",
      columns.map(({ name, priority = 0 }) => `${name}${priority > 0 ? " (wide)" : ""}`).join(", "),
    ]);
  return [
    `## ${kind.kind}`,
    version?.schema.description ?? "",
    table(["", ""], facts),
    fields.length > 0
      ? table(
          ["field", "type", ""],
          fields.map(({ path, type, notes }) => [code(path), type, notes]),
        )
      : "",
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function versionsOf({ versions }: Kind): string {
  return Object.keys(versions).map(code).join(", ");
}

/** Verbs if they are not the usual ones, and subresources. */
function extrasOf({
  verbs,
  source,
  subresources: { status, scale, connect = {}, actions = {}, parts = {} },
}: Kind): string {
  const only = verbs ?? (source ? ["get", "list"] : undefined);
  const subresources = [
    ...(status ? ["status"] : []),
    ...(scale ? ["scale"] : []),
    ...Object.keys(connect),
    ...Object.keys(actions),
    ...Object.keys(parts),
  ];
  return [
    only ? `only ${only.join(", ")}` : undefined,
    subresources.length > 0 ? subresources.map((name) => code(`/${name}`)).join(" ") : undefined,
  ]
    .filter((part) => part !== undefined)
    .join("; ");
}

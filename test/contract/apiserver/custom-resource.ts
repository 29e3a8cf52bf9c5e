/** CustomResourceDefinitions of the contract suites: each kind has its own group, so that suites do not interfere. */
import { omitZero } from "@flotilla/base";
import { eventually } from "../../programs/api-servers.ts";
import type { Answer, Api } from "../../programs/raw-client.ts";

export interface CrdOptions {
  scope?: "Namespaced" | "Cluster";
  /** The schema of the only version; free-form by default. */
  schema?: object;
  subresources?: object;
  columns?: readonly object[];
  selectableFields?: readonly object[];
  shortNames?: readonly string[];
  categories?: readonly string[];
  /** Replaces the only version `v1`. */
  versions?: readonly object[];
}

const FREE_FORM = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** `Widget` becomes `widgets.widget.example.com`. */
export function makeCrd(
  kind: string,
  {
    scope = "Namespaced",
    schema = FREE_FORM,
    subresources,
    columns,
    selectableFields,
    shortNames,
    categories,
    versions,
  }: CrdOptions = {},
): { metadata: { name: string }; spec: Record<string, unknown> } {
  const singular = kind.toLowerCase();
  return {
    metadata: { name: `${singular}s.${singular}.example.com` },
    spec: {
      group: `${singular}.example.com`,
      scope,
      names: {
        plural: `${singular}s`,
        singular,
        kind,
        ...omitZero({ shortNames, categories }),
      },
      versions: versions ?? [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources,
          additionalPrinterColumns: columns,
          selectableFields,
        },
      ],
    },
  };
}

/** Creates the CRD and waits until its kind is served; returns the collection's path. */
export async function defineResource(
  api: Api,
  kind: string,
  options: CrdOptions & { namespace?: string } = {},
): Promise<string> {
  const crd = makeCrd(kind, options);
  const created = await api.create(CRDS, crd);
  if (created.status !== 201) throw new Error(`the definition of ${kind} was refused: ${created.text}`);
  await eventually(`${kind} is established`, () => api.get(`${CRDS}/${crd.metadata.name}`), isEstablished);
  const singular = kind.toLowerCase();
  const version = (options.versions?.[0] as { name: string } | undefined)?.name ?? "v1";
  const path = `/apis/${singular}.example.com/${version}${options.namespace === undefined ? "" : `/namespaces/${options.namespace}`}/${singular}s`;
  // The real server routes to a new kind shortly after it reports Established.
  await eventually(
    `${kind} is served`,
    () => api.get(path),
    ({ status }) => status === 200,
  );
  return path;
}

export function isEstablished({ body }: Answer): boolean {
  const { conditions } = (body.status ?? {}) as { conditions?: { type: string; status: string }[] | null };
  return (conditions ?? []).some(({ type, status }) => type === "Established" && status === "True");
}

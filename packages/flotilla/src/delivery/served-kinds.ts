/**
 * Kinds as a member serves them. A manifest may use a version that the member does not serve yet, or no longer serves;
 * then another version is used if we can convert the kind. OpenKruise's kinds are served as v1alpha1 by some members
 * and as v1beta1 by others.
 */
import { fieldsLostIn, kruiseKinds } from "@flotilla/openkruise";
import { badRequest, formatApiVersion, gvkOf, parseApiVersion } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import { kubernetesKinds } from "@flotilla/kubernetes";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { UnknownKindError } from "@flotilla/client";
import type { AnyKind, KindResolver } from "@flotilla/client";

type Manifest = DeepReadonly<KubernetesObject>;

let convertible: ReadonlyMap<string, Kind> | undefined;

/** The kind with its conversions; undefined for a kind with a single version, or that we know by name only. */
function convertibleKind(apiVersion: string, kind: string): Kind | undefined {
  convertible ??= new Map(
    [...kruiseKinds, ...kubernetesKinds]
      .filter(({ versions }) => Object.keys(versions).length > 1)
      .map((known) => [`${known.group}/${known.kind}`, known]),
  );
  return convertible.get(`${parseApiVersion(apiVersion).group}/${kind}`);
}

/** Returns the requested version where the member serves it, and otherwise another one that we can convert to. */
export function createServedKinds(kinds: KindResolver): KindResolver {
  const others = new Map<string, AnyKind>();
  const idOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }): string => `${apiVersion}/${kind}`;

  async function resolveOther({
    apiVersion,
    kind,
  }: {
    apiVersion: string;
    kind: string;
  }): Promise<AnyKind | undefined> {
    const known = convertibleKind(apiVersion, kind);
    for (const version of Object.keys(known?.versions ?? {})) {
      const other = formatApiVersion(known?.group ?? "", version);
      if (other === apiVersion) continue;
      try {
        return await kinds.resolve({ apiVersion: other, kind });
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error;
      }
    }
    return undefined;
  }

  return {
    known: (ref) => kinds.known(ref) ?? others.get(idOf(ref)),
    forget(ref) {
      const other = others.get(idOf(ref));
      others.delete(idOf(ref));
      kinds.forget(ref);
      if (other) kinds.forget({ apiVersion: formatApiVersion(other.group, other.storageVersion), kind: other.kind });
    },
    async resolve(ref) {
      const remembered = others.get(idOf(ref));
      if (remembered) return remembered;
      try {
        return await kinds.resolve(ref);
      } catch (error) {
        if (!(error instanceof UnknownKindError)) throw error;
        const other = await resolveOther(ref);
        if (!other) throw error;
        others.set(idOf(ref), other);
        return other;
      }
    },
  };
}

/** Manifests are shared and immutable; each is converted once. */
const converted = new WeakMap<object, Manifest>();

/**
 * The manifest in the version that the member serves. Throws an ApiError when it contains fields that this version
 * lacks.
 */
export function inServedVersion(manifest: Manifest, served: Pick<AnyKind, "storageVersion">): Manifest {
  const { group, version, kind } = gvkOf(manifest);
  if (version === served.storageVersion) return manifest;
  const known = converted.get(manifest);
  const apiVersion = formatApiVersion(group, served.storageVersion);
  if (known?.apiVersion === apiVersion) return known;
  const lost = group.endsWith(".kruise.io")
    ? fieldsLostIn(served.storageVersion, manifest as unknown as JsonObject)
    : [];
  if (lost.length > 0)
    throw badRequest(
      `${kind} ${manifest.metadata.name} is served there only as ${apiVersion}, which lacks the fields ` +
        `${lost.join(", ")}; upgrade OpenKruise on the member, or remove the fields with an override policy`,
    );
  const versions = convertibleKind(manifest.apiVersion, kind)?.versions;
  const stored =
    versions?.[version]?.toStorage?.(manifest as unknown as JsonObject) ?? (manifest as unknown as JsonObject);
  const result = {
    ...(versions?.[served.storageVersion]?.fromStorage?.(stored) ?? stored),
    apiVersion,
  } as unknown as Manifest;
  converted.set(manifest, result);
  return result;
}

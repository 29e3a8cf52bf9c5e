/**
 * The hashes in the annotations of a SidecarSet: of its containers, and of the containers without images. Injection
 * copies them to pods; a pod with an equal hash without images can be updated in place.
 *
 * The hash input is the output of upstream's encoder, byte for byte.
 */
import { createHash } from "node:crypto";
import { compareText, isObject, type DeepReadonly, type Json, type JsonObject } from "@flotilla/base";
import { canonicalPart, safeEncode, structOf } from "@flotilla/apimachinery";
import type { FactType } from "@flotilla/apimachinery";
import type { SidecarContainer, SidecarSetSpec } from "./sidecarset-types.ts";

export const SIDECAR_SET_HASH_ANNOTATION = "kruise.io/sidecarset-hash";
export const SIDECAR_SET_HASH_WITHOUT_IMAGE_ANNOTATION = "kruise.io/sidecarset-hash-without-image";

const TABLE = "apps-kruise-v1beta1";

type Spec = DeepReadonly<Pick<SidecarSetSpec, "containers" | "initContainers">>;

export interface SidecarSetHashes {
  hash: string;
  hashWithoutImage: string;
}

/** The containers of both versions have the same form, and therefore the same hashes. */
export function sidecarSetHashes(spec: Spec): SidecarSetHashes {
  return {
    hash: hashOf(sidecarSetHashedText(spec)),
    hashWithoutImage: hashOf(sidecarSetHashedText(withoutImages(spec))),
  };
}

function withoutImages({ containers, initContainers }: Spec): Spec {
  const plain = (list: Spec["containers"]): Spec["containers"] =>
    list?.map(({ image: _image, ...container }) => container);
  return {
    containers: containers ? plain(containers) : undefined,
    initContainers: initContainers ? plain(initContainers) : undefined,
  };
}

const hashOf = (text: string): string => safeEncode(createHash("sha256").update(text).digest("hex"));

/** Init containers are included when one of them is a sidecar that keeps running. */
export function sidecarSetHashedText({ containers, initContainers = [] }: Spec): string {
  const hashed: JsonObject = { containers: containers?.length ? containers.map(goForm) : null };
  if (initContainers.some(({ restartPolicy }) => restartPolicy === "Always"))
    hashed["initContainers"] = initContainers.map(goForm);
  return JSON.stringify(hashed).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function goForm(container: DeepReadonly<SidecarContainer>): Json {
  const canonical = canonicalPart(TABLE, "SidecarContainer", container as unknown as JsonObject, {
    apiVersion: "apps.kruise.io/v1beta1",
    kind: "SidecarSet",
  });
  return inOrder({ shape: "struct", struct: structOf(TABLE, "SidecarContainer"), pointer: false }, canonical);
}

/** Struct fields in declaration order, map keys sorted. */
function inOrder(type: FactType, value: Json): Json {
  if (type.shape === "list") return Array.isArray(value) ? value.map((item) => inOrder(type.of, item)) : value;
  if (type.shape === "leaf" || !isObject(value)) return value;
  if (type.shape !== "struct")
    return Object.fromEntries(
      Object.keys(value)
        .toSorted(compareText)
        .map((key) => [key, inOrder(type.of, value[key] ?? null)]),
    );
  const fields = [...type.struct.flat.values()].filter(({ name }) => value[name] !== undefined);
  return Object.fromEntries(fields.map(({ name, type: of }) => [name, inOrder(of, value[name] ?? null)]));
}

/** Discovery documents in protobuf: the lists of groups and resources, in both formats. */
import { protobufEnvelope } from "@flotilla/apimachinery";
import type { JsonObject } from "@flotilla/base";
import { each, encodeShape, message } from "../codec/message-shapes.ts";
import type { Messages } from "../codec/message-shapes.ts";
import { textOf } from "../codec/text.ts";

const VERSION = message("GroupVersionForDiscovery");
const ADDRESS = each(message("ServerAddressByClientCIDR"));
const KIND = message("GroupVersionKind");

const MESSAGES: Messages = {
  APIVersions: { fields: { versions: [1, each("string")], serverAddressByClientCIDRs: [2, ADDRESS] } },
  ServerAddressByClientCIDR: { fields: { clientCIDR: [1, "string"], serverAddress: [2, "string"] } },
  APIGroupList: { fields: { groups: [1, each(message("APIGroup"))] } },
  APIGroup: {
    fields: {
      name: [1, "string"],
      versions: [2, each(VERSION)],
      preferredVersion: [3, VERSION],
      serverAddressByClientCIDRs: [4, ADDRESS],
    },
  },
  GroupVersionForDiscovery: { fields: { groupVersion: [1, "string"], version: [2, "string"] } },
  APIResourceList: { fields: { groupVersion: [1, "string"], resources: [2, each(message("APIResource"))] } },
  APIResource: {
    fields: {
      name: [1, "string"],
      namespaced: [2, "bool"],
      kind: [3, "string"],
      verbs: [4, "texts"],
      shortNames: [5, each("string")],
      singularName: [6, "string"],
      categories: [7, each("string")],
      group: [8, "string"],
      version: [9, "string"],
      storageVersionHash: [10, "string"],
    },
  },
  APIGroupDiscoveryList: {
    fields: { metadata: [1, message("Metadata")], items: [2, each(message("GroupDiscovery"))] },
  },
  GroupDiscovery: { fields: { metadata: [1, message("Metadata")], versions: [2, each(message("VersionDiscovery"))] } },
  Metadata: { fields: { name: [1, "string"] } },
  VersionDiscovery: {
    fields: { version: [1, "string"], resources: [2, each(message("ResourceDiscovery"))], freshness: [3, "string"] },
  },
  ResourceDiscovery: {
    fields: {
      resource: [1, "string"],
      responseKind: [2, KIND],
      scope: [3, "string"],
      singularResource: [4, "string"],
      verbs: [5, each("string")],
      shortNames: [6, each("string")],
      categories: [7, each("string")],
      subresources: [8, each(message("SubresourceDiscovery"))],
    },
  },
  SubresourceDiscovery: {
    fields: {
      subresource: [1, "string"],
      responseKind: [2, KIND],
      acceptedTypes: [3, each(KIND)],
      verbs: [4, each("string")],
    },
  },
  GroupVersionKind: { fields: { group: [1, "string"], version: [2, "string"], kind: [3, "string"] } },
};

/** A discovery document, which names its kind; some of them omit the version. */
export function encodeDiscovery(document: JsonObject): Uint8Array {
  const kind = textOf(document.kind);
  const content = encodeShape(MESSAGES, kind, document);
  const { head, tail } = protobufEnvelope(textOf(document.apiVersion) || "v1", kind, content.byteLength);
  return Buffer.concat([head, content, tail]);
}

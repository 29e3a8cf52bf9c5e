/** The body of a request, decoded when an operation reads it. */
import type { ProtobufCodec } from "@flotilla/apimachinery";
import type { Json } from "@flotilla/base";
import type { PatchType } from "@flotilla/client";
import type { Input } from "../actions/action.ts";
import { decodeObject, decodePatch, decodeValue, mediaTypeOf } from "../codec/decode.ts";
import type { Body, DecodedObject, DecodedPatch } from "../codec/decode.ts";
import type { ApiRequest } from "../request/request.ts";
import type { ServedVersion } from "../resources/resources.ts";
import { patchTypeOf } from "../write/patch.ts";

/** Scales of all kinds are a built-in kind. */
const SCALE = { builtIn: true };

/** A class, because one is created for each request, and most do not read it. */
export class RequestInput implements Input {
  readonly #body: Body;
  readonly #served: ServedVersion;
  readonly #subresource: string | undefined;
  readonly #protobuf: ProtobufCodec | undefined;

  constructor(
    { body, headers }: ApiRequest,
    served: ServedVersion,
    subresource: string | undefined,
    protobuf: ProtobufCodec | undefined,
  ) {
    this.#body = { bytes: body, contentType: headers["content-type"] };
    this.#served = served;
    this.#subresource = subresource;
    this.#protobuf = protobuf;
  }

  object(): DecodedObject {
    return decodeObject(this.#body, this.#served, this.#subresource, this.#protobuf);
  }

  value(): Json | undefined {
    return this.#body.bytes.byteLength === 0 ? undefined : decodeValue(this.#body, this.#protobuf);
  }

  patch(): DecodedPatch {
    return decodePatch(this.#body, this.#subresource === "scale" ? SCALE : this.#served.resource.kind);
  }

  patchType(): PatchType {
    return patchTypeOf(mediaTypeOf(this.#body.contentType), this.#served.resource.kind.builtIn);
  }
}

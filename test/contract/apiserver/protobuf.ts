/** Hand-written protobuf bodies, byte by byte, as client-go sends them: independent of the decoder under test. */

export function protobufConfigMap(name: string, data: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(data).map(([key, value]) => field(2, Buffer.concat([field(1, key), field(2, value)])));
  return envelope("v1", "ConfigMap", Buffer.concat([field(1, objectMeta(name, {})), ...entries]));
}

/** Go serializes every plain number, zero or not: `minReadySeconds` is sent as 0 although it is unset. */
export function protobufDeployment(name: string, replicas: number): Buffer {
  const labels = { app: name };
  const container = Buffer.concat([
    field(1, "main"),
    field(2, "registry.example.com/app:1"),
    field(5, ""),
    field(13, ""),
    field(14, ""),
  ]);
  const template = Buffer.concat([
    field(1, objectMeta("", labels)),
    field(2, Buffer.concat([field(2, container), field(3, ""), field(6, "")])),
  ]);
  const selector = field(1, Buffer.concat([field(1, "app"), field(2, name)]));
  const spec = Buffer.concat([number(1, replicas), field(2, selector), field(3, template), number(5, 0), number(7, 0)]);
  return envelope("apps/v1", "Deployment", Buffer.concat([field(1, objectMeta(name, {})), field(2, spec)]));
}

function objectMeta(name: string, labels: Readonly<Record<string, string>>): Buffer {
  const entries = Object.entries(labels).map(([key, value]) =>
    field(11, Buffer.concat([field(1, key), field(2, value)])),
  );
  return Buffer.concat([field(1, name), field(2, ""), field(3, ""), ...entries]);
}

/** `runtime.Unknown` after the four magic bytes. */
function envelope(apiVersion: string, kind: string, raw: Buffer): Buffer {
  const typeMeta = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([Buffer.from("k8s\0", "latin1"), field(1, typeMeta), field(2, raw), field(3, ""), field(4, "")]);
}

function field(tag: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([varint((tag << 3) | 2), varint(bytes.length), bytes]);
}

function number(tag: number, value: number): Buffer {
  return Buffer.concat([varint(tag << 3), varint(value)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

/** The root cluster of an API server, which lists the others. It answers at `/` as well as at `/clusters/hub`. */
export const HUB = "hub";

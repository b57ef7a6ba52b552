/**
 * Which addresses belong to the public internet, by IANA's registries of special-purpose addresses. All others are refused: behind
 * them stand a cloud's credentials (169.254.169.254, fd00:ec2::254), Lambda's own runtime interface, and a VPC's insides.
 */
import type { LookupAddress, lookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { NonRetryableError } from "../../shared/errors.ts";

const special = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // behind a carrier's NAT
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.52.193.0", 24], // multicast tunnels
  ["192.88.99.0", 24], // relays of 6to4
  ["192.168.0.0", 16], // private
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
] as const)
  special.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["2001::", 23], // protocol assignments, among them Teredo, which holds an IPv4 address
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4, which holds an IPv4 address
  ["3fff::", 20], // documentation
] as const)
  special.addSubnet(net, prefix, "ipv6");

/** All that is routed: loopback, link-local, unique-local, multicast, IPv4-mapped and NAT64 addresses are outside. */
const global6 = new BlockList();
global6.addSubnet("2000::", 3, "ipv6");

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, "ipv4");
  return family === 6 && !address.includes("%") && global6.check(address, "ipv6") && !special.check(address, "ipv6");
}

/**
 * What a socket asks for its address: so the addresses that are checked are the very ones that it connects to, and a name that
 * answers otherwise the second time ("DNS rebinding") gains nothing.
 */
export const publicLookup =
  (resolve: typeof lookup): LookupFunction =>
  (host, options, callback) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const open = found.filter(({ address }) => isPublicAddress(address));
      const [first] = open;
      if (first === undefined) return callback(privateHost(host, found), []);
      if (options.all === true) return callback(null, open);
      callback(null, first.address, first.family);
    });
  };

const privateHost = (host: string, found: readonly LookupAddress[]): Error =>
  new NonRetryableError(
    `url must name a host at a public address, or an origin in privateOrigins, got ${host} at ${found.map(({ address }) => address).join(", ")}`,
  );

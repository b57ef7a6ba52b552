import { describe, expect, test } from "vitest";
import { isPublicAddress, publicLookup } from "../../../functions/http/public-address.ts";
import { resolving, toolWith } from "./asking.ts";

const refused = [
  ["this network", "0.0.0.0", "0.255.255.255"],
  ["private", "10.0.0.0", "10.255.255.255"],
  ["private", "172.16.0.0", "172.31.255.255"],
  ["private", "192.168.0.0", "192.168.255.255"],
  ["a carrier's NAT", "100.64.0.0", "100.127.255.255"],
  ["loopback", "127.0.0.1", "127.255.255.255"],
  ["link-local", "169.254.0.0", "169.254.255.255"],
  ["instance and task credentials", "169.254.169.254", "169.254.170.2"],
  ["protocol assignments", "192.0.0.0", "192.0.0.255"],
  ["documentation", "192.0.2.1", "198.51.100.1"],
  ["documentation", "203.0.113.255", "2001:db8::1"],
  ["relays of 6to4", "192.88.99.0", "192.88.99.255"],
  ["benchmarks", "198.18.0.0", "198.19.255.255"],
  ["multicast", "224.0.0.0", "239.255.255.255"],
  ["reserved, and broadcast", "240.0.0.0", "255.255.255.255"],
  ["unspecified and loopback", "::", "::1"],
  ["IPv4-compatible", "::7f00:1", "::8.8.8.8"],
  ["IPv4-mapped", "::ffff:127.0.0.1", "::ffff:8.8.8.8"],
  ["IPv4-mapped, in hexadecimal", "::ffff:a9fe:a9fe", "0:0:0:0:0:ffff:808:808"],
  ["NAT64", "64:ff9b::7f00:1", "64:ff9b:1::a9fe:a9fe"],
  ["discarded", "100::", "100::ffff"],
  ["Teredo, and other assignments", "2001::", "2001:1ff:ffff::1"],
  ["6to4 of 10.0.0.1, and of a public address", "2002:a00:1::", "2002:808:808::"],
  ["documentation", "3fff::", "3fff:fff::1"],
  ["unique-local, and the credentials there", "fc00::", "fd00:ec2::254"],
  ["link-local", "fe80::1", "febf::1"],
  ["link-local with its zone", "fe80::1%eth0", "2606:4700::1%eth0"],
  ["site-local", "fec0::1", "feff::1"],
  ["multicast", "ff00::", "ff02::1"],
  ["not assigned", "4000::1", "5f00::1"],
  ["no address", "localhost", ""],
].flatMap(([what, ...addresses]) => addresses.map((address) => [address, what]));

const open = [
  "1.0.0.0",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "2000::1",
  "2001:200::1",
  "2606:4700:4700::1111",
  "2a00:1450:4001::1",
  "2600:1f18::1",
];

test.each(refused)("%s (%s) is not public", (address) => {
  expect(isPublicAddress(address ?? "")).toBe(false);
});

test.each(open)("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

/** WHATWG's URL turns each of these into the address that it means. */
test.each([
  ["https://127.0.0.1/", "127.0.0.1"],
  ["https://127.1/", "127.0.0.1"],
  ["https://0x7f.1/", "127.0.0.1"],
  ["https://2130706433/", "127.0.0.1"],
  ["https://0177.0.0.1/", "127.0.0.1"],
  ["https://169.254.169.254./latest/meta-data", "169.254.169.254"],
  ["https://１２７.0.0.1/", "127.0.0.1"],
  ["https://[::1]/", "::1"],
  ["https://[::ffff:169.254.169.254]/", "::ffff:a9fe:a9fe"],
  ["https://[64:ff9b::169.254.169.254]/", "64:ff9b::a9fe:a9fe"],
])("a start that names %s is refused at the edge", (url, address) => {
  expect(toolWith().inputFault({ url })).toBe(
    `url: must name a host at a public address, or an origin in privateOrigins, got ${address}`,
  );
});

describe("a socket that asks for the addresses of a name", () => {
  const ask = (addresses: string, options: object) =>
    new Promise<unknown[]>((resolve) => {
      const look = publicLookup(resolving({ "some.example": [addresses] }).resolve);
      look("some.example", options, (...answer) => resolve(answer));
    });

  test("is told the public ones only", async () => {
    expect(await ask("10.0.0.1 8.8.8.8 ::1 2606:4700::1", { all: true })).toEqual([
      null,
      [
        { address: "8.8.8.8", family: 4 },
        { address: "2606:4700::1", family: 6 },
      ],
    ]);
    expect(await ask("127.0.0.1 8.8.8.8", {})).toEqual([null, "8.8.8.8", 4]);
  });

  test("is told nothing by a name that was public when it was asked before", async () => {
    const look = publicLookup(resolving({ "rebinding.example": ["8.8.8.8", "127.0.0.1"] }).resolve);
    const ask = () => new Promise<unknown[]>((resolve) => look("rebinding.example", {}, (...said) => resolve(said)));
    expect(await ask()).toEqual([null, "8.8.8.8", 4]);
    expect(await ask()).toMatchObject([{ name: "NonRetryableError" }, []]);
  });

  test("is told none where all are private, and why", async () => {
    const [error] = await ask("10.0.0.1 ::1", { all: true });
    expect(error).toMatchObject({
      name: "NonRetryableError",
      message:
        "url must name a host at a public address, or an origin in privateOrigins, got some.example at 10.0.0.1, ::1",
    });
  });
});

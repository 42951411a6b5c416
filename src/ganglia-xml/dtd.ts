// What every document of Ganglia's begins with.

const TYPE = '(string | int8 | uint8 | int16 | uint16 | int32 | uint32 | float | double | timestamp)';
const SLOPE = '(zero | positive | negative | both | unspecified)';

/** Ganglia's document type. The parts that only gmetad writes (GRID, HOSTS, METRICS) belong to it too. */
export const PROLOGUE = `<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<!DOCTYPE GANGLIA_XML [
<!ELEMENT GANGLIA_XML (GRID | CLUSTER | HOST)*>
<!ATTLIST GANGLIA_XML VERSION CDATA #REQUIRED SOURCE CDATA #REQUIRED>
<!ELEMENT GRID (CLUSTER | GRID | HOSTS | METRICS)*>
<!ATTLIST GRID NAME CDATA #REQUIRED AUTHORITY CDATA #REQUIRED LOCALTIME CDATA #IMPLIED>
<!ELEMENT CLUSTER (HOST | HOSTS | METRICS)*>
<!ATTLIST CLUSTER NAME CDATA #REQUIRED LOCALTIME CDATA #REQUIRED
  OWNER CDATA #IMPLIED LATLONG CDATA #IMPLIED URL CDATA #IMPLIED>
<!ELEMENT HOST (METRIC)*>
<!ATTLIST HOST NAME CDATA #REQUIRED IP CDATA #REQUIRED REPORTED CDATA #REQUIRED
  TN CDATA #IMPLIED TMAX CDATA #IMPLIED DMAX CDATA #IMPLIED
  LOCATION CDATA #IMPLIED TAGS CDATA #IMPLIED GMOND_STARTED CDATA #IMPLIED>
<!ELEMENT METRIC (EXTRA_DATA*)>
<!ATTLIST METRIC NAME CDATA #REQUIRED VAL CDATA #REQUIRED
  TYPE ${TYPE} #REQUIRED
  UNITS CDATA #IMPLIED TN CDATA #IMPLIED TMAX CDATA #IMPLIED DMAX CDATA #IMPLIED
  SLOPE ${SLOPE} #IMPLIED SOURCE (gmond) 'gmond'>
<!ELEMENT EXTRA_DATA (EXTRA_ELEMENT*)>
<!ELEMENT EXTRA_ELEMENT EMPTY>
<!ATTLIST EXTRA_ELEMENT NAME CDATA #REQUIRED VAL CDATA #REQUIRED>
<!ELEMENT HOSTS EMPTY>
<!ATTLIST HOSTS UP CDATA #REQUIRED DOWN CDATA #REQUIRED SOURCE (gmond | gmetad) #REQUIRED>
<!ELEMENT METRICS (EXTRA_DATA*)>
<!ATTLIST METRICS NAME CDATA #REQUIRED SUM CDATA #REQUIRED NUM CDATA #REQUIRED
  TYPE ${TYPE} #REQUIRED
  UNITS CDATA #IMPLIED SLOPE ${SLOPE} #IMPLIED SOURCE (gmond) 'gmond'>
]>
`;

/** The version of Ganglia whose documents these are. */
export const GANGLIA = '3.7.2';

/** Attributes in the given order. The values have been made safe, so that nothing is left to escape. */
export function attributes(values: Record<string, string | number>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
}

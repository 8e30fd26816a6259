// A path of several hops in ns-3: a chain of routers, with the senders and receivers of each flow
// at the routers at the two ends of its route. Reads the path from the standard input, in words that
// `run_hops.py` writes. Prints one line of JSON.

#include "queues.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <memory>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1448;
constexpr uint32_t DATAGRAM = 1472;

/// Returns the next word of the standard input.
template <typename T>
T
Next()
{
    T value;
    NS_ABORT_MSG_UNLESS(std::cin >> value, "a word is missing");
    return value;
}

/// Returns the next word, a time in ns.
Time
NextTime()
{
    return NanoSeconds(Next<int64_t>());
}

/// Parameters of all flows and the times of the run.
struct Run
{
    uint32_t number;
    Time duration;
    Time warmup;
    std::string recovery;
    uint32_t delayedAck;
    uint32_t window;

    static Run Read()
    {
        return {Next<uint32_t>(),
                NextTime(),
                NextTime(),
                Next<std::string>(),
                Next<uint32_t>(),
                Next<uint32_t>()};
    }

    void SetDefaults() const
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(number);
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::" + recovery));
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayedAck));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 * window));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
        Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("10000p"));
    }
};

/// One direction of a hop.
struct Direction
{
    uint64_t rate;
    double loss;
    std::string queue;
    uint32_t limit;
    double minTh;
    double maxTh;
    double maxP;
    double weight;
    bool wait;
    std::unique_ptr<TimeAverage> length;
    uint64_t drops{0};

    static Direction Read()
    {
        return {Next<uint64_t>(),
                Next<double>(),
                Next<std::string>(),
                Next<uint32_t>(),
                Next<double>(),
                Next<double>(),
                Next<double>(),
                Next<double>(),
                Next<bool>(),
                nullptr};
    }

    /// Sets the rate of the sending device, its queue discipline, and the loss at the other device.
    void Install(Ptr<NetDevice> sending, Ptr<NetDevice> receiving, Time delay, Time warmup)
    {
        Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(sending);
        device->SetDataRate(DataRate(rate));
        StopQueueWhileSending(device);
        Ptr<QueueDisc> disc = Discipline(delay).Install(device).Get(0);
        length = std::make_unique<TimeAverage>(warmup);
        disc->TraceConnectWithoutContext(
            "PacketsInQueue",
            Callback<void, uint32_t, uint32_t>(
                [this](uint32_t, uint32_t packets) { length->Set(packets); }));
        disc->TraceConnectWithoutContext(
            "Drop",
            Callback<void, Ptr<const QueueDiscItem>>([this, warmup](Ptr<const QueueDiscItem>) {
                drops += Simulator::Now() >= warmup;
            }));
        if (loss > 0)
        {
            Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
            errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            errors->SetRate(loss);
            DynamicCast<PointToPointNetDevice>(receiving)->SetReceiveErrorModel(errors);
        }
    }

  private:
    TrafficControlHelper Discipline(Time delay) const
    {
        const std::string size = std::to_string(limit) + "p";
        TrafficControlHelper helper;
        if (queue == "red")
        {
            helper.SetRootQueueDisc("ns3::RedQueueDisc",
                                    "MaxSize",
                                    StringValue(size),
                                    "MinTh",
                                    DoubleValue(minTh),
                                    "MaxTh",
                                    DoubleValue(maxTh),
                                    "LInterm",
                                    DoubleValue(1 / maxP),
                                    "QW",
                                    DoubleValue(weight),
                                    "Wait",
                                    BooleanValue(wait),
                                    "LinkBandwidth",
                                    DataRateValue(DataRate(rate)),
                                    "LinkDelay",
                                    TimeValue(delay));
        }
        else
        {
            const std::string kind = queue == "codel" ? "CoDelQueueDisc" : "FifoQueueDisc";
            helper.SetRootQueueDisc("ns3::" + kind, "MaxSize", StringValue(size));
        }
        return helper;
    }
};

/// Datagrams of 1500 bytes with exponentially distributed gaps.
class PoissonSource
{
  public:
    PoissonSource(Ptr<Node> node, const InetSocketAddress& target, double rate)
        : m_socket(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId()))
    {
        m_socket->Connect(target);
        m_gap->SetAttribute("Mean", DoubleValue(1500 * 8 / rate));
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(DATAGRAM));
        Simulator::Schedule(Seconds(m_gap->GetValue()), &PoissonSource::Send, this);
    }

  private:
    Ptr<Socket> m_socket;
    Ptr<ExponentialRandomVariable> m_gap = CreateObject<ExponentialRandomVariable>();
};

/// A flow with its end nodes.
struct Flow
{
    uint32_t first;
    uint32_t last;
    bool isUpload;
    std::string kind;
    double rate;
    Time access;
    Ptr<Node> sender;
    Ptr<Node> receiver;
    Ipv4Address target;
    uint64_t delivered{0};
    std::unique_ptr<PoissonSource> source;

    static Flow Read()
    {
        return {Next<uint32_t>(),
                Next<uint32_t>(),
                Next<bool>(),
                Next<std::string>(),
                Next<double>(),
                NextTime()};
    }

    /// Connects the end nodes to the routers at the two ends of the route.
    void Connect(const NodeContainer& routers, Ipv4AddressHelper& addresses)
    {
        NodeContainer ends;
        ends.Create(2);
        sender = ends.Get(0);
        receiver = ends.Get(1);
        InternetStackHelper().Install(ends);
        Wire(sender, routers.Get(isUpload ? last + 1 : first), access, addresses);
        target = Wire(receiver, routers.Get(isUpload ? first : last + 1), Time(0), addresses);
    }

    /// Installs the applications. The flow starts at a random time in the first second.
    void Start(Ptr<UniformRandomVariable> start, Time warmup)
    {
        const bool isTcp = kind != "poisson";
        const InetSocketAddress at(target, 5000);
        PacketSinkHelper sinks(isTcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory", at);
        sinks.Install(receiver).Get(0)->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(
                [this, warmup](Ptr<const Packet> packet, const Address&) {
                    delivered += Simulator::Now() >= warmup ? packet->GetSize() : 0;
                }));
        const Time time = Seconds(start->GetValue(0, 1));
        if (!isTcp)
        {
            source = std::make_unique<PoissonSource>(sender, at, rate);
            Simulator::Schedule(time, &PoissonSource::Send, source.get());
            return;
        }
        sender->GetObject<TcpL4Protocol>()->SetAttribute(
            "SocketType",
            TypeIdValue(TypeId::LookupByName("ns3::" + kind)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", at);
        bulk.SetAttribute("SendSize", UintegerValue(SEGMENT));
        bulk.Install(sender).Get(0)->SetStartTime(time);
    }

  private:
    /// Connects an end node to a router by 1 Gbit/s. Returns the address of the end node.
    static Ipv4Address Wire(Ptr<Node> end,
                            Ptr<Node> router,
                            Time delay,
                            Ipv4AddressHelper& addresses)
    {
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        wire.SetChannelAttribute("Delay", TimeValue(delay));
        const NetDeviceContainer devices = wire.Install(end, router);
        addresses.NewNetwork();
        const Ipv4Address address = addresses.Assign(devices).GetAddress(0);
        // Address assignment gives every device a default discipline.
        TrafficControlHelper().Uninstall(devices);
        return address;
    }
};

} // namespace

int
main()
{
    const Run run = Run::Read();
    run.SetDefaults();

    const uint32_t hops = Next<uint32_t>();
    NodeContainer routers;
    routers.Create(hops + 1);
    InternetStackHelper().Install(routers);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    std::vector<std::unique_ptr<Direction>> directions;
    for (uint32_t i = 0; i < hops; ++i)
    {
        const Time delay = NextTime();
        PointToPointHelper link;
        link.SetChannelAttribute("Delay", TimeValue(delay));
        link.DisableFlowControl();
        const NetDeviceContainer ends = link.Install(routers.Get(i), routers.Get(i + 1));
        for (const uint32_t side : {0, 1})
        {
            directions.push_back(std::make_unique<Direction>(Direction::Read()));
            directions.back()->Install(ends.Get(side), ends.Get(1 - side), delay, run.warmup);
        }
        addresses.NewNetwork();
        addresses.Assign(ends);
    }

    std::vector<std::unique_ptr<Flow>> flows;
    const uint32_t count = Next<uint32_t>();
    for (uint32_t i = 0; i < count; ++i)
    {
        flows.push_back(std::make_unique<Flow>(Flow::Read()));
        flows.back()->Connect(routers, addresses);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (auto& flow : flows)
    {
        flow->Start(start, run.warmup);
    }

    std::vector<double> lengths;
    Simulator::Schedule(run.duration, [&]() {
        for (auto& direction : directions)
        {
            lengths.push_back(direction->length->Mean(run.warmup));
        }
    });
    Simulator::Stop(run.duration);
    Simulator::Run();

    const double seconds = (run.duration - run.warmup).GetSeconds();
    std::cout << "{\"goodputs_bps\": [";
    for (size_t i = 0; i < flows.size(); ++i)
    {
        std::cout << (i ? ", " : "") << flows[i]->delivered * 8 / seconds;
    }
    std::cout << "], \"queues_packets\": [";
    for (size_t i = 0; i < lengths.size(); ++i)
    {
        std::cout << (i ? ", " : "") << lengths[i];
    }
    std::cout << "], \"drops\": [";
    for (size_t i = 0; i < directions.size(); ++i)
    {
        std::cout << (i ? ", " : "") << directions[i]->drops;
    }
    std::cout << "]}" << std::endl;
    Simulator::Destroy();
    return 0;
}

// One dumbbell in ns-3: N senders, a shared queue and link, N receivers. Prints one line of JSON.
//
// The queue discipline holds every waiting packet. The device holds only the packet that it sends,
// because its queue is stopped from the start of a transmission to the end. Therefore lengths and
// limits count the same packets as in Airpath: waiting packets, without the packet in service.

#include "queues.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <deque>
#include <iostream>
#include <sstream>

using namespace ns3;

namespace
{

/// Regime of a link whose rate and loss depend on the queue; applies from `from` waiting packets on.
struct Regime
{
    uint32_t from;
    DataRate rate;
    double per;
};

/// "0:10Mbps:0.01,20:12Mbps:0.1"
std::vector<Regime>
ParseRegimes(const std::string& text)
{
    std::vector<Regime> regimes;
    std::istringstream list(text);
    for (std::string item; std::getline(list, item, ',');)
    {
        std::istringstream fields(item);
        std::string from;
        std::string rate;
        std::string per;
        std::getline(fields, from, ':');
        std::getline(fields, rate, ':');
        std::getline(fields, per, ':');
        regimes.push_back(
            {static_cast<uint32_t>(std::stoul(from)), DataRate(rate), std::stod(per)});
    }
    return regimes;
}

/// Drops each packet with the loss probability of the regime at the start of its transmission.
class RegimeErrorModel : public ErrorModel
{
  public:
    void Sent(double per)
    {
        m_pers.push_back(per);
    }

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        const double per = m_pers.front();
        m_pers.pop_front();
        return m_uniform->GetValue() < per;
    }

    void DoReset() override
    {
        m_pers.clear();
    }

    std::deque<double> m_pers;
    Ptr<UniformRandomVariable> m_uniform = CreateObject<UniformRandomVariable>();
};

/// Counters from the end of the warm-up on.
struct Counters
{
    Time warmup;
    uint64_t drops{0};
    uint64_t marks{0};
    uint64_t losses{0};
    uint64_t sent{0};
    uint64_t retransmissions{0};
    uint64_t timeouts{0};

    void Count(uint64_t& counter) const
    {
        counter += Simulator::Now() >= warmup;
    }
};

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 1;
    std::string cc = "TcpNewReno";
    std::string recovery = "TcpPrrRecovery";
    uint32_t delayedAck = 2;
    bool limitedTransmit = true;
    bool timestamps = true;
    bool sack = true;
    uint32_t window = 65535;
    uint32_t initialWindow = 10;
    std::string rate = "10Mbps";
    std::string delay = "5ms";
    std::string accessDelays = "1ms";
    std::string queue = "droptail";
    uint32_t limit = 100;
    double minTh = 5;
    double maxTh = 15;
    double maxP = 0.02;
    double weight = 0.002;
    bool wait = true;
    bool ecn = false;
    double loss = 0;
    std::string regimesText;
    double duration = 60;
    double warmup = 10;
    uint32_t run = 1;
    bool trace = false;

    CommandLine cmd;
    cmd.AddValue("flows", "", flows);
    cmd.AddValue("cc", "", cc);
    cmd.AddValue("recovery", "", recovery);
    cmd.AddValue("delayedAck", "", delayedAck);
    cmd.AddValue("limitedTransmit", "", limitedTransmit);
    cmd.AddValue("timestamps", "", timestamps);
    cmd.AddValue("sack", "", sack);
    cmd.AddValue("window", "", window);
    cmd.AddValue("initialWindow", "", initialWindow);
    cmd.AddValue("rate", "", rate);
    cmd.AddValue("delay", "of the bottleneck", delay);
    cmd.AddValue("accessDelays", "one per flow, separated by commas", accessDelays);
    cmd.AddValue("queue", "droptail, red, codel or fq-codel", queue);
    cmd.AddValue("limit", "", limit);
    cmd.AddValue("minTh", "", minTh);
    cmd.AddValue("maxTh", "", maxTh);
    cmd.AddValue("maxP", "", maxP);
    cmd.AddValue("weight", "", weight);
    cmd.AddValue("wait", "", wait);
    cmd.AddValue("ecn", "of the sockets and of the queue discipline", ecn);
    cmd.AddValue("loss", "", loss);
    cmd.AddValue("regimes", "from:rate:per, separated by commas", regimesText);
    cmd.AddValue("duration", "", duration);
    cmd.AddValue("warmup", "", warmup);
    cmd.AddValue("run", "", run);
    cmd.AddValue("trace", "print every change of cwnd, ssthresh and state of flow 0", trace);
    cmd.Parse(argc, argv);

    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(run);

    const uint32_t segment = timestamps ? 1448 : 1460;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + cc));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::" + recovery));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(initialWindow));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayedAck));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 * window));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(timestamps));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(limitedTransmit));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("10000p"));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer senders;
    senders.Create(flows);
    NodeContainer receivers;
    receivers.Create(flows);
    InternetStackHelper internet;
    internet.InstallAll();

    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneck.SetChannelAttribute("Delay", StringValue(delay));
    bottleneck.DisableFlowControl();
    NetDeviceContainer link = bottleneck.Install(routers);
    Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(link.Get(0));
    Ptr<PointToPointNetDevice> far = DynamicCast<PointToPointNetDevice>(link.Get(1));
    // Replaces the flow control of the helper, which keeps one packet waiting in the device.
    StopQueueWhileSending(device);

    TrafficControlHelper discipline;
    if (queue == "red")
    {
        discipline.SetRootQueueDisc("ns3::RedQueueDisc",
                                    "MaxSize",
                                    StringValue(std::to_string(limit) + "p"),
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
                                    "UseEcn",
                                    BooleanValue(ecn),
                                    "LinkBandwidth",
                                    StringValue(rate),
                                    "LinkDelay",
                                    StringValue(delay));
    }
    else if (queue == "codel" || queue == "fq-codel")
    {
        discipline.SetRootQueueDisc(queue == "codel" ? "ns3::CoDelQueueDisc"
                                                     : "ns3::FqCoDelQueueDisc",
                                    "MaxSize",
                                    StringValue(std::to_string(limit) + "p"),
                                    "UseEcn",
                                    BooleanValue(ecn));
    }
    else
    {
        discipline.SetRootQueueDisc("ns3::FifoQueueDisc",
                                    "MaxSize",
                                    StringValue(std::to_string(limit) + "p"));
    }
    Ptr<QueueDisc> disc = discipline.Install(device).Get(0);

    const Time from = Seconds(warmup);
    Counters counters{from};
    TimeAverage length(from);
    disc->TraceConnectWithoutContext(
        "PacketsInQueue",
        Callback<void, uint32_t, uint32_t>(
            [&](uint32_t, uint32_t packets) { length.Set(packets); }));
    disc->TraceConnectWithoutContext(
        "Drop",
        Callback<void, Ptr<const QueueDiscItem>>(
            [&](Ptr<const QueueDiscItem>) { counters.Count(counters.drops); }));
    disc->TraceConnectWithoutContext(
        "Mark",
        Callback<void, Ptr<const QueueDiscItem>, const char*>(
            [&](Ptr<const QueueDiscItem>, const char*) { counters.Count(counters.marks); }));
    far->TraceConnectWithoutContext(
        "PhyRxDrop",
        Callback<void, Ptr<const Packet>>(
            [&](Ptr<const Packet>) { counters.Count(counters.losses); }));

    const std::vector<Regime> regimes = ParseRegimes(regimesText);
    Ptr<RegimeErrorModel> regimeErrors = CreateObject<RegimeErrorModel>();
    if (!regimes.empty())
    {
        far->SetReceiveErrorModel(regimeErrors);
    }
    else if (loss > 0)
    {
        Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        far->SetReceiveErrorModel(errors);
    }
    device->TraceConnectWithoutContext(
        "PhyTxBegin",
        Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) {
            for (auto regime = regimes.rbegin(); regime != regimes.rend(); ++regime)
            {
                if (disc->GetNPackets() >= regime->from)
                {
                    device->SetDataRate(regime->rate);
                    regimeErrors->Sent(regime->per);
                    break;
                }
            }
        }));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    addresses.Assign(link);
    std::vector<Ipv4Address> targets;
    std::istringstream delays(accessDelays);
    for (uint32_t i = 0; i < flows; ++i)
    {
        std::string access;
        std::getline(delays, access, ',');
        PointToPointHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        wire.SetChannelAttribute("Delay", StringValue(access));
        addresses.NewNetwork();
        NetDeviceContainer near = wire.Install(senders.Get(i), routers.Get(0));
        addresses.Assign(near);
        wire.SetChannelAttribute("Delay", StringValue("0ms"));
        addresses.NewNetwork();
        NetDeviceContainer end = wire.Install(routers.Get(1), receivers.Get(i));
        targets.push_back(addresses.Assign(end).GetAddress(1));
        // Address assignment gives every device a default discipline.
        TrafficControlHelper none;
        none.Uninstall(near);
        none.Uninstall(end);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<uint64_t> delivered(flows, 0);
    std::vector<Ptr<BulkSendApplication>> applications;
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    const uint16_t port = 5000;
    for (uint32_t i = 0; i < flows; ++i)
    {
        PacketSinkHelper sinkHelper("ns3::TcpSocketFactory",
                                    InetSocketAddress(Ipv4Address::GetAny(), port));
        Ptr<PacketSink> sink =
            DynamicCast<PacketSink>(sinkHelper.Install(receivers.Get(i)).Get(0));
        sink->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(
                [&delivered, &from, i](Ptr<const Packet> packet, const Address&) {
                    if (Simulator::Now() >= from)
                    {
                        delivered[i] += packet->GetSize();
                    }
                }));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(targets[i], port));
        source.SetAttribute("SendSize", UintegerValue(segment));
        Ptr<BulkSendApplication> application =
            DynamicCast<BulkSendApplication>(source.Install(senders.Get(i)).Get(0));
        const Time at = Seconds(start->GetValue(0, 1));
        application->SetStartTime(at);
        applications.push_back(application);
        Simulator::Schedule(at + NanoSeconds(1), [&counters, application, trace, i]() {
            Ptr<Socket> socket = application->GetSocket();
            socket->TraceConnectWithoutContext(
                "Tx",
                Callback<void, Ptr<const Packet>, const TcpHeader&, Ptr<const TcpSocketBase>>(
                    [&counters](Ptr<const Packet> packet,
                                const TcpHeader&,
                                Ptr<const TcpSocketBase>) {
                        if (packet->GetSize() > 0)
                        {
                            counters.Count(counters.sent);
                        }
                    }));
            socket->TraceConnectWithoutContext(
                "Retransmission",
                Callback<void,
                         Ptr<const Packet>,
                         const TcpHeader&,
                         const Address&,
                         const Address&,
                         Ptr<const TcpSocketBase>>(
                    [&counters, trace, i](Ptr<const Packet>,
                                          const TcpHeader& header,
                                          const Address&,
                                          const Address&,
                                          Ptr<const TcpSocketBase>) {
                        counters.Count(counters.retransmissions);
                        if (trace && i == 0)
                        {
                            std::cerr << Simulator::Now().GetSeconds() << " resent "
                                      << header.GetSequenceNumber() << "\n";
                        }
                    }));
            socket->TraceConnectWithoutContext(
                "RTO",
                Callback<void, Time, Time>([&counters, trace, i](Time before, Time after) {
                    if (after.GetSeconds() > 1.9 * before.GetSeconds() && before > Seconds(0.5))
                    {
                        counters.Count(counters.timeouts);
                        if (trace && i == 0)
                        {
                            std::cerr << Simulator::Now().GetSeconds() << " timeout\n";
                        }
                    }
                }));
            if (trace && i == 0)
            {
                for (const char* what : {"CongestionWindow", "SlowStartThreshold"})
                {
                    socket->TraceConnectWithoutContext(
                        what,
                        Callback<void, uint32_t, uint32_t>([what](uint32_t, uint32_t value) {
                            std::cerr << Simulator::Now().GetSeconds() << " " << what << " "
                                      << value / 1448.0 << "\n";
                        }));
                }
                socket->TraceConnectWithoutContext(
                    "CongState",
                    Callback<void, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t>(
                        [](TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t state) {
                            std::cerr << Simulator::Now().GetSeconds() << " state "
                                      << TcpSocketState::TcpCongStateName[state] << "\n";
                        }));
            }
        });
    }

    double meanQueue = 0;
    Simulator::Schedule(Seconds(duration), [&]() { meanQueue = length.Mean(from); });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();

    std::cout << "{\"goodput_bps\": [";
    const double seconds = duration - warmup;
    for (uint32_t i = 0; i < flows; ++i)
    {
        std::cout << (i ? ", " : "") << delivered[i] * 8 / seconds;
    }
    std::cout << "], \"queue_packets\": " << meanQueue << ", \"drops\": " << counters.drops
              << ", \"marks\": " << counters.marks << ", \"losses\": " << counters.losses << ", \"sent\": " << counters.sent
              << ", \"retransmissions\": " << counters.retransmissions
              << ", \"timeouts\": " << counters.timeouts << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
